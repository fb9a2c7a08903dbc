package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"

	"tillwatch/relay/journal"
)

var (
	errInUse = errors.New("in use by another process")
	errMoved = errors.New("was removed, renamed or replaced while it was in use: put it back; " +
		"until this process ends, it can still read what the file held")
)

// claim is this process's hold on a journal. It locks the folder and the database
// themselves: there is no lock file that somebody could remove. It detects when other
// files stand at their paths, and when another process has written into them.
type claim struct {
	locks    []*flock.Flock
	database openFile
	log      openFile
}

// take locks the journal in folder dir and creates its database if there is none,
// accessible to this user only.
func take(dir string) (*claim, error) {
	c := &claim{
		database: openFile{path: filepath.Join(dir, databaseName)},
		log:      openFile{path: filepath.Join(dir, databaseName+"-wal")},
	}
	if err := c.lock(dir); err != nil {
		return nil, errors.Join(err, c.release())
	}
	return c, nil
}

// lock takes the locks that the system offers. On Linux it locks the folder, and the
// database in case somebody moves it to another folder. Elsewhere a lock on the
// database would keep SQLite out, too. Windows cannot lock a folder, but nobody can
// remove an open file there: it locks a file beside the database.
func (c *claim) lock(dir string) error {
	switch runtime.GOOS {
	case "windows":
		c.locks = []*flock.Flock{flock.New(filepath.Join(dir, lockName))}
	case "linux":
		c.locks = []*flock.Flock{flock.New(dir, flock.SetFlag(os.O_RDONLY)), flock.New(c.database.path, flock.SetFlag(os.O_RDWR))}
	default:
		c.locks = []*flock.Flock{flock.New(dir, flock.SetFlag(os.O_RDONLY))}
	}
	if err := c.database.open(os.O_CREATE); err != nil {
		return err
	}
	for _, lock := range c.locks {
		locked, err := lock.TryLock()
		if err == nil && !locked {
			return errInUse
		}
		// On a file system without locks, the owner's name in the database must do.
	}
	return nil
}

// inPlace returns an error if other files, or none, stand at the paths now.
func (c *claim) inPlace() error {
	if err := c.database.inPlace(); err != nil {
		return err
	}
	return c.log.inPlace()
}

// untouched returns an error if somebody else has written since [claim.note].
func (c *claim) untouched() error {
	if err := c.database.untouched(); err != nil {
		return err
	}
	return c.log.untouched()
}

// note takes the present content of the files as written by this process.
func (c *claim) note() {
	c.database.note()
	c.log.note()
}

// release releases the locks. SQLite must have closed its files: when a process
// closes any handle of a file, it loses all of SQLite's locks on it.
func (c *claim) release() error {
	errs := []error{c.log.close(), c.database.close()}
	for _, lock := range c.locks {
		errs = append(errs, lock.Close())
	}
	return errors.Join(errs...)
}

// openFile is a file that stays open.
type openFile struct {
	path string
	file *os.File
	info os.FileInfo
	seen []byte // its beginning when last noted; nil when unknown
	now  []byte // buffer for the next comparison
}

// seenBytes is how much of a file's beginning is compared. It changes with every
// write: it holds the header of the database and the row with its owner, and the
// first pages of the log.
const seenBytes = 8 << 10

// open opens the file unless it is open.
func (h *openFile) open(flags int) (err error) {
	if h.file != nil {
		return nil
	}
	if h.file, err = os.OpenFile(h.path, os.O_RDWR|flags, 0o600); err != nil {
		return err
	}
	h.info, err = h.file.Stat()
	return err
}

func (h *openFile) inPlace() error {
	if h.info == nil {
		return nil
	}
	if info, err := os.Stat(h.path); err != nil || !os.SameFile(info, h.info) {
		return fmt.Errorf("%s %w", h.path, errMoved)
	}
	return nil
}

// beginning reads the beginning into room, and allocates room if it is too small.
func (h *openFile) beginning(room []byte) ([]byte, error) {
	if cap(room) < seenBytes {
		room = make([]byte, seenBytes)
	}
	n, err := h.file.ReadAt(room[:seenBytes], 0)
	if err == io.EOF {
		err = nil
	}
	return room[:n], err
}

func (h *openFile) untouched() error {
	if h.seen == nil {
		return nil
	}
	var err error
	if h.now, err = h.beginning(h.now); err == nil && !bytes.Equal(h.now, h.seen) {
		err = fmt.Errorf("%w: %s was written by another program", journal.ErrDisowned, h.path)
	}
	return err
}

func (h *openFile) note() {
	if h.file == nil {
		return
	}
	var err error
	if h.seen, err = h.beginning(h.seen); err != nil {
		h.seen = nil
	}
}

func (h *openFile) close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}
