package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"tillwatch/api/durable"
)

const (
	databaseName = "journal.db"
	lockName     = "journal.lock" // on Windows
)

var (
	errForeign = errors.New("is a database, but not a journal of events")
	errNewer   = errors.New("was written by a newer version of this program")
	errOlder   = errors.New("was written before the first release of this program")
)

// folder is the place of a journal. vfs names SQLite's file layer; "" is the one of
// the system.
type folder struct{ path, vfs string }

// prepare creates the folder, accessible to this user only.
func (f folder) prepare() error {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	_ = durable.SyncFolder(f.path) // best effort: not every system can sync a folder
	return nil
}

// database opens the database with pragmas for every connection. It only connects to
// the claimed file, never to another one at its path.
func (f folder) database(c *claim, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_pragma": pragmas}
	if f.vfs != "" {
		query.Set("vfs", f.vfs)
	}
	connector, err := driver.NewConnector("file:" + url.PathEscape(filepath.Join(f.path, databaseName)) + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(claimed{connector, c}), nil
}

// claimed connects only while the files of a claim are in place.
type claimed struct {
	sqldriver.Connector
	claim *claim
}

// Connect implements [sqldriver.Connector].
func (c claimed) Connect(ctx context.Context) (sqldriver.Conn, error) {
	if err := c.claim.inPlace(); err != nil {
		return nil, err
	}
	connection, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.claim.inPlace(); err != nil {
		_ = connection.Close()
		return nil, err
	}
	return connection, nil
}

// explain turns an error of opening the journal into one sentence that says what to do.
func explain(dir string, err error) error {
	file := filepath.Join(dir, databaseName)
	var failure *driver.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("open the journal in %s: %w", dir, err)
	case errors.Is(err, errInUse):
		return inUse(dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not writable: give this user write permission, or choose another folder", unwritable(dir, err))
	case errors.Is(err, errForeign), errors.Is(err, errNewer), errors.Is(err, errOlder):
		return fmt.Errorf("%s %w: choose another folder", file, err)
	case errors.Is(err, errDamaged):
		return fmt.Errorf("%s %w: restore it from a copy, or move it away to begin anew", file, err)
	case errors.As(err, &failure):
		return explainCode(dir, file, failure)
	case strings.HasPrefix(err.Error(), "sql: "): // a row is not of the kind that this program writes
		return damaged(file, err)
	}
	return fmt.Errorf("the journal folder %s cannot be used: %w", dir, err)
}

// noRoom reports whether the disk, or this user's share of it, is full.
func noRoom(err error) bool {
	var failure *driver.Error
	return errors.As(err, &failure) && slices.Contains([]int{codes.SQLITE_FULL, codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_SHMSIZE}, failure.Code())
}

// instructive says what to do about a database that turns out to be damaged, or whose disk is full, while it is open.
func (j *Journal) instructive(err error) error {
	var failure *driver.Error
	if errors.Is(err, errDamaged) || noRoom(err) || errors.As(err, &failure) && failure.Code()&0xff == codes.SQLITE_CORRUPT {
		return explain(filepath.Dir(j.claim.database.path), err)
	}
	return err
}

// unwritable names what this user may not write: a file, or the folder in which it would be made.
func unwritable(dir string, err error) string {
	var denied *fs.PathError
	if errors.As(err, &denied) && denied.Path != dir {
		if _, err := os.Stat(denied.Path); err == nil {
			return denied.Path
		}
	}
	return "the journal folder " + dir
}

func damaged(file string, err error) error {
	return fmt.Errorf("%s is damaged or not a journal: restore it from a copy, or move it away to begin anew (%w)", file, err)
}

func inUse(dir string) error {
	return fmt.Errorf("the journal folder %s is in use by another process: stop it, or choose another folder", dir)
}

func explainCode(dir, file string, failure *driver.Error) error {
	switch failure.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return inUse(dir)
	case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT:
		return damaged(file, failure)
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return fmt.Errorf("the journal folder %s is not writable: give this user write permission, or choose another folder (%w)", dir, failure)
	}
	if noRoom(failure) {
		return fmt.Errorf("the disk of the journal folder %s is full: make room, or choose another folder (%w)", dir, failure)
	}
	return fmt.Errorf("open the journal in %s: %w", dir, failure)
}
