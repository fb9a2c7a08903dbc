package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes an exclusive lock on a byte of file far behind those that SQLite
// locks. It returns false when a process has it.
func lockFile(file *os.File) (locked bool, err error) {
	at := windows.Overlapped{Offset: lockedByte & 0xffffffff, OffsetHigh: lockedByte >> 32}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}
