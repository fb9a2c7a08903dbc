//go:build !linux && !darwin

package sqlite

// roomIn is not known.
func roomIn(string) int64 { return 0 }
