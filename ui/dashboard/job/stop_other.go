//go:build !unix

package job

// suspendPossible is false where no shell can stop a program.
const suspendPossible = false

func stopProcess() error { return errNotStopped }

func InForeground(any) bool { return true }

func (*Job) Follow(func()) {}
