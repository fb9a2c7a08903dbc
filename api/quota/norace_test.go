//go:build !race

package quota

const raced = false
