//go:build !linux

package command

// programPages are not known here.
type programPages struct{}

func (*programPages) drop() {}
