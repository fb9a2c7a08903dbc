package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes an exclusive lock on a byte of file far behind those that SQLite
// locks. It belongs to the open file: unlike SQLite's own, it does not end when
// this process closes another one. It returns false when a process has it.
func lockFile(file *os.File) (locked bool, err error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: lockedByte, Len: 1}
	err = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return false, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
		return true, nil // the folder's lock stands alone
	}
	return err == nil, os.NewSyscallError("fcntl", err)
}
