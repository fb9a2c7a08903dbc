package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// syncData syncs what is needed to read the file's bytes again, and not its
// times.
func syncData(file *os.File) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = raw.Control(func(fd uintptr) {
		for {
			if failure = syscall.Fdatasync(int(fd)); failure != syscall.EINTR {
				return
			}
		}
	})
	return errors.Join(err, failure)
}
