//go:build !unix

package job

// suspendPossible reports whether a shell can stop a program on this system.
const suspendPossible = false

func stopProcess() error { return errNotStopped }

// InForeground returns true: without job control a program is never in the background.
func InForeground(any) bool { return true }

// Follow does nothing: no shell can stop the program.
func (*Job) Follow(func()) {}

// FollowQuit does nothing: this system has no signal for a dump.
func (*Job) FollowQuit(func() error) {}
