//go:build !unix

package dashboard

// suspendPossible is false where no shell can stop a program.
const suspendPossible = false

func stopProcess() error { return errNotStopped }

func inForeground(any) bool { return true }

func (*job) follow(func()) {}
