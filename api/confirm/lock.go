package confirm

import (
	"errors"
	"os"
	"time"
)

// lockFile keeps processes of one machine apart. The system gives it back when a
// process dies.
type lockFile struct{ file *os.File }

func openLock(path string) (*lockFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &lockFile{file}, nil
}

const (
	// lockFor is how long a lock is waited for. It is held for as long as a line
	// takes to be written, so one that does not come tells of a process that hangs.
	lockFor  = 5 * time.Second
	lockStep = 5 * time.Millisecond
)

var errLockHeld = errors.New("another tillwatch has held it for seconds: is one of them stopped?")

func (l *lockFile) take() error {
	for deadline := time.Now().Add(lockFor); ; {
		held, err := tryLock(l.file)
		if err != nil || held {
			return err
		}
		if !time.Now().Before(deadline) {
			return errLockHeld
		}
		time.Sleep(lockStep)
	}
}

func (l *lockFile) release() error { return unlock(l.file) }

func (l *lockFile) close() error { return l.file.Close() }
