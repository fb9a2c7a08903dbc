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
		"what it held can be read from here until this process ends")
)

// claim is this process's hold on a journal. Its locks sit on the folder and on
// the database itself, so that there is nothing beside them to remove. It tells
// whether the files are still those at their paths, and whether somebody else has
// written into them: what is written into others is lost.
type claim struct {
	locks    []*flock.Flock
	database held
	log      held
}

// take locks the journal in folder dir, and makes its database where there is none,
// for this user alone.
func take(dir string) (*claim, error) {
	c := &claim{
		database: held{path: filepath.Join(dir, databaseName)},
		log:      held{path: filepath.Join(dir, databaseName+"-wal")},
	}
	if err := c.lock(dir); err != nil {
		return nil, errors.Join(err, c.release())
	}
	return c, nil
}

// lock takes the locks that the system has: on Linux those of the folder and of the
// database, which goes with it into another folder. Elsewhere that of the database
// would keep SQLite out, too. Windows locks no folder, but lets nobody remove a file
// that is open: a file beside the database will do.
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
		// A file system without locks leaves it to the owner's name in the database.
	}
	return nil
}

// inPlace reports whether the files are those at their paths.
func (c *claim) inPlace() error {
	if err := c.database.inPlace(); err != nil {
		return err
	}
	return c.log.inPlace()
}

// untouched reports whether nobody else has written since [claim.note].
func (c *claim) untouched() error {
	if err := c.database.untouched(); err != nil {
		return err
	}
	return c.log.untouched()
}

// note takes what the files hold now for what this process has written.
func (c *claim) note() {
	c.database.note()
	c.log.note()
}

// release lets go of the locks, once SQLite has closed its files: a process that
// closes a file lets go of all of SQLite's locks on it.
func (c *claim) release() error {
	errs := []error{c.log.close(), c.database.close()}
	for _, lock := range c.locks {
		errs = append(errs, lock.Close())
	}
	return errors.Join(errs...)
}

// held is a file that is kept open.
type held struct {
	path string
	file *os.File
	info os.FileInfo
	seen []byte // its beginning; nil when it is not known
	now  []byte // room for another look
}

// seenBytes is the length of a beginning that changes with the rest of a file: the
// header of the database and the row that names its owner, and the first pages of
// the log, which tell one from the next.
const seenBytes = 8 << 10

// open opens the file, which stays the same until it is closed.
func (h *held) open(flags int) (err error) {
	if h.file != nil {
		return nil
	}
	if h.file, err = os.OpenFile(h.path, os.O_RDWR|flags, 0o600); err != nil {
		return err
	}
	h.info, err = h.file.Stat()
	return err
}

func (h *held) inPlace() error {
	if h.info == nil {
		return nil
	}
	if info, err := os.Stat(h.path); err != nil || !os.SameFile(info, h.info) {
		return fmt.Errorf("%s %w", h.path, errMoved)
	}
	return nil
}

// beginning reads the beginning into room, where there is any.
func (h *held) beginning(room []byte) ([]byte, error) {
	if cap(room) < seenBytes {
		room = make([]byte, seenBytes)
	}
	n, err := h.file.ReadAt(room[:seenBytes], 0)
	if err == io.EOF {
		err = nil
	}
	return room[:n], err
}

func (h *held) untouched() error {
	if h.seen == nil {
		return nil
	}
	var err error
	if h.now, err = h.beginning(h.now); err == nil && !bytes.Equal(h.now, h.seen) {
		err = fmt.Errorf("%w: %s was written by another program", journal.ErrDisowned, h.path)
	}
	return err
}

func (h *held) note() {
	if h.file == nil {
		return
	}
	var err error
	if h.seen, err = h.beginning(h.seen); err != nil {
		h.seen = nil
	}
}

func (h *held) close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}
