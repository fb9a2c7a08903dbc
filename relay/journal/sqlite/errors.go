package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"tillwatch/relay/journal"
)

var (
	errMoved   = errors.New("removed, renamed or replaced while in use")
	errForeign = errors.New("is a database, but not a journal of events")
	errVersion = errors.New("was written by another version of this program")
	errDamaged = errors.New("damaged")
)

// code returns SQLite's code of an error, 0 for any other error.
func code(err error) int {
	var failure *driver.Error
	if errors.As(err, &failure) {
		return failure.Code()
	}
	return 0
}

// isDamage reports whether the database does not hold what was asked for, or not as it was written.
func isDamage(err error) bool {
	switch code(err) & 0xff {
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB, codes.SQLITE_TOOBIG:
		return true
	case codes.SQLITE_CONSTRAINT: // another row has the number, or a column is not what the schema says
		return true
	}
	return code(err) == codes.SQLITE_IOERR_SHORT_READ || errors.Is(err, errDamaged) || errors.Is(err, sql.ErrNoRows)
}

// explain makes one sentence of an error, which says what to do.
func (j *Journal) explain(doing string, err error) error {
	folder := filepath.Dir(j.path)
	kind := code(err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, journal.ErrClosed):
		return fmt.Errorf("%s the journal in %s: %w", doing, folder, err)
	case errors.Is(err, errMoved):
		return fmt.Errorf("%s was %w: put it back, or start the relay again", j.path, err)
	case errors.Is(err, errForeign), errors.Is(err, errVersion):
		return fmt.Errorf("%s %w: choose another folder", j.path, err)
	case errors.Is(err, journal.ErrInUse), kind&0xff == codes.SQLITE_BUSY, kind&0xff == codes.SQLITE_LOCKED:
		return fmt.Errorf("the journal folder %s is %w: stop it, or choose another folder", folder, journal.ErrInUse)
	case isDamage(err), kind == codes.SQLITE_ERROR: // it does not know a table, or the format
		return fmt.Errorf("%s is damaged or not a journal: restore it from a copy, or move it away to begin anew (%w)",
			j.path, oneLine{err})
	case kind == codes.SQLITE_FULL, kind == codes.SQLITE_IOERR_WRITE, kind == codes.SQLITE_IOERR_SHMSIZE:
		return fmt.Errorf("%s the journal: the disk of %s is full: make room (%w)", doing, folder, err)
	case errors.Is(err, fs.ErrPermission), kind&0xff == codes.SQLITE_READONLY, kind&0xff == codes.SQLITE_CANTOPEN:
		return fmt.Errorf("the journal folder %s is not writable: give this user write permission, or choose another "+
			"folder (%w)", folder, err)
	}
	return fmt.Errorf("%s the journal in %s: %w", doing, folder, oneLine{err})
}

// oneLine is an error whose text fits a line of a log.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }

func (e oneLine) Unwrap() error { return e.error }
