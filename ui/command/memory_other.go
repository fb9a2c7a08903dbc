//go:build !linux

package command

// dropProgramPages does nothing where it is not known how.
func dropProgramPages() {}
