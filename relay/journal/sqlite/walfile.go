package sqlite

import "os"

// walFile is SQLite's write-ahead log, opened a second time to sync it. SQLite
// takes no lock on this file, so that closing it lets go of none.
type walFile struct {
	path  string
	file  *os.File
	flush func(*os.File) error // waits for the disk
}

// open opens the log, which is there once the database was used.
func (l *walFile) open() (err error) {
	l.file, err = os.OpenFile(l.path, os.O_RDWR, 0)
	return err
}

// sync returns after everything that was written into the log is durable.
func (l *walFile) sync() error { return l.flush(l.file) }

func (l *walFile) size() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (l *walFile) close() error {
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	return file.Close()
}
