package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

const (
	databaseName = "journal.db"
	lockName     = "journal.lock"
)

var (
	errForeign = errors.New("is a database, but no journal of events")
	errNewer   = errors.New("was written by a newer version of this program")
	errOlder   = errors.New("was written before the first release of this program")
)

// folder is where a journal is, and through which file layer of SQLite: that of
// the system where vfs is empty.
type folder struct{ path, vfs string }

// prepare makes the folder and the database file in it, for this user alone.
func (f folder) prepare() error {
	dir := f.path
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{lockName, databaseName} {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	opened, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer opened.Close()
	// Not every system can sync a folder; where it can, the new files survive
	// a power cut.
	_ = opened.Sync()
	return nil
}

// database opens the file name with the pragmas that every connection needs.
func (f folder) database(name string, pragmas ...string) (*sql.DB, error) {
	path, err := filepath.Abs(filepath.Join(f.path, name))
	if err != nil {
		return nil, err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	query := url.Values{"_pragma": pragmas}
	if f.vfs != "" {
		query.Set("vfs", f.vfs)
	}
	location := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return sql.Open("sqlite", location.String())
}

// lock holds an exclusive lock of SQLite on a file beside the journal
// until the returned function is called or the process ends.
func (f folder) lock(ctx context.Context) (unlock func() error, err error) {
	db, err := f.database(lockName, "busy_timeout(250)")
	if err != nil {
		return nil, err
	}
	connection, err := db.Conn(ctx)
	if err == nil {
		_, err = connection.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return func() error {
		_, err := connection.ExecContext(context.Background(), "ROLLBACK")
		return errors.Join(err, connection.Close(), db.Close())
	}, nil
}

// explain turns an error of opening into one sentence that says what to do.
func explain(dir string, err error) error {
	file := filepath.Join(dir, databaseName)
	var failure *driver.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("open the journal in %s: %w", dir, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the journal folder %s may not be written: give this user the right to, or choose another folder", dir)
	case errors.Is(err, errForeign), errors.Is(err, errNewer), errors.Is(err, errOlder):
		return fmt.Errorf("%s %w: choose another folder", file, err)
	case errors.Is(err, errDamaged):
		return fmt.Errorf("%s %w: restore it from a copy, or move it away to begin anew", file, err)
	case errors.As(err, &failure):
		return explainCode(dir, file, failure)
	}
	return fmt.Errorf("the journal folder %s cannot be used: %w", dir, err)
}

func explainCode(dir, file string, failure *driver.Error) error {
	switch failure.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return fmt.Errorf("the journal folder %s is in use by another process: stop it, or choose another folder", dir)
	case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT:
		return fmt.Errorf("%s is damaged or no journal: restore it from a copy, or move it away to begin anew (%w)", file, failure)
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return fmt.Errorf("the journal folder %s may not be written: give this user the right to, or choose another folder (%w)", dir, failure)
	case codes.SQLITE_FULL:
		return fmt.Errorf("the disk of the journal folder %s is full: make room, or choose another folder (%w)", dir, failure)
	}
	return fmt.Errorf("open the journal in %s: %w", dir, failure)
}
