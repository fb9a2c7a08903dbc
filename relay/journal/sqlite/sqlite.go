// Package sqlite is the journal in one embedded database file: a row for each event.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver

	"tillwatch/api/durable"
	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

const (
	databaseName = "journal.db"
	walSuffix    = "-wal"
	lockName     = "journal.lock" // on Windows
	readers      = 4              // connections

	leastDatabase = 512 // bytes: the smallest page
)

// Journal is a [journal.Journal] in an SQLite database in WAL mode. One goroutine writes: it commits together what
// queued during the commit before.
//
// Each row has a checksum. A row that does not match is never changed or deleted: a page that its damage names may
// belong to other rows.
type Journal struct {
	*groupcommit.Queue[work]
	path    string // of the database
	info    os.FileInfo
	wal     os.FileInfo // of the newest commits, beside the database; nil on a file layer that has none there
	lock    *flock.Flock
	db      *sql.DB
	writing *sql.Conn

	// Of the goroutine that writes:
	prepared map[string]*sql.Stmt // on writing, by their text
	doubt    bool                 // a commit failed and may have happened nevertheless
	frail    bool                 // a table is damaged where a row was to be changed: rows are only added from now on
	opened   int64                // the head at the start
	spoilt   map[int64]bool       // the events just before it that were damaged then
	broken   error                // why the newest event could not be stored, if its table is damaged

	mu    sync.Mutex
	state state
	moved chan struct{} // closed when the head moves; nil after Close
	// ids are all that were ever stored; above the head those of the transaction under way.
	ids map[journal.Digest]int64
}

// state is what a commit changes.
type state struct {
	epoch        string
	oldest       int64
	head, latest int64 // not stored: those of the newest rows
}

// Open opens or creates the journal in folder dir, which one process at a time can use. Events may be damaged; where
// anything else is, the error says what to do.
func Open(ctx context.Context, dir string) (journal.Journal, error) {
	j, err := open(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	return j, nil
}

// open opens the journal through a file layer of SQLite's; "" is that of the system.
func open(ctx context.Context, dir, layer string) (*Journal, error) {
	j := &Journal{
		Queue: groupcommit.New[work](), path: filepath.Join(dir, databaseName),
		prepared: map[string]*sql.Stmt{}, spoilt: map[int64]bool{}, ids: map[journal.Digest]int64{},
		moved: make(chan struct{}),
	}
	err := j.claim(dir)
	if err == nil {
		err = j.connect(ctx, layer)
	}
	if err == nil {
		err = j.begin(ctx)
	}
	j.wal, _ = os.Stat(j.path + walSuffix)
	if err != nil {
		_ = j.release()
		return nil, j.explain("open", err)
	}
	go j.Run(j.commit)
	return j, nil
}

// claim makes the folder and the database, for this user only, and locks it.
func (j *Journal) claim(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	_ = durable.SyncFolder(dir) // not every system can
	file, err := os.OpenFile(j.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	j.info, err = file.Stat()
	_ = file.Close()
	if err != nil {
		return err
	}
	if size := j.info.Size(); size > 0 && size < leastDatabase {
		return fmt.Errorf("%w: it has %d bytes", errDamaged, size) // SQLite would take it for an empty one
	}
	switch runtime.GOOS {
	case "linux":
		j.lock = flock.New(j.path, flock.SetFlag(os.O_RDWR))
	case "windows": // it cannot lock a folder
		j.lock = flock.New(filepath.Join(dir, lockName))
	default: // a lock on the database would keep SQLite out, too
		j.lock = flock.New(dir, flock.SetFlag(os.O_RDONLY))
	}
	if locked, err := j.lock.TryLock(); err == nil && !locked {
		return journal.ErrInUse
	}
	return nil // some file systems have no locks
}

// connect opens all connections. They stay open: none must ever open another file at the path.
func (j *Journal) connect(ctx context.Context, layer string) (err error) {
	query := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)",
		"cell_size_check(1)", "journal_size_limit(8388608)"}}
	if layer != "" {
		query.Set("vfs", layer)
	}
	if j.db, err = sql.Open("sqlite", "file:"+url.PathEscape(j.path)+"?"+query.Encode()); err != nil {
		return err
	}
	j.db.SetMaxOpenConns(readers + 1)
	j.db.SetMaxIdleConns(readers + 1)
	if j.writing, err = j.db.Conn(ctx); err != nil {
		return err
	}
	if err := j.prepareSchema(ctx); err != nil {
		return err
	}
	for range readers {
		reading, err := j.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer reading.Close()
		if err := reading.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int)); err != nil {
			return err
		}
	}
	return nil
}

// inPlace returns an error if another file, or none, stands at the path: nothing that is written now would be found
// by the next process.
func (j *Journal) inPlace() error {
	for path, was := range map[string]os.FileInfo{j.path: j.info, j.path + walSuffix: j.wal} {
		if was == nil {
			continue
		}
		if now, err := os.Stat(path); err != nil || !os.SameFile(now, was) {
			return errMoved
		}
	}
	return nil
}

// release closes what was opened: SQLite's files first, because closing any handle of a file drops SQLite's locks.
func (j *Journal) release() error {
	var errs []error
	for _, statement := range j.prepared {
		errs = append(errs, statement.Close())
	}
	if j.writing != nil {
		errs = append(errs, j.writing.Close())
	}
	if j.db != nil {
		errs = append(errs, j.db.Close())
	}
	if j.lock != nil {
		errs = append(errs, j.lock.Close())
	}
	return errors.Join(errs...)
}

// Close fails appends that have not begun with [journal.ErrClosed], and waits for the others. Further calls do nothing.
func (j *Journal) Close() error {
	if !j.Stop() {
		return nil
	}
	j.mu.Lock()
	close(j.moved)
	j.moved = nil
	j.mu.Unlock()
	if err := j.release(); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}

// publish makes a committed state known.
func (j *Journal) publish(s state) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.head > j.state.head && j.moved != nil {
		close(j.moved)
		j.moved = make(chan struct{})
	}
	j.state = s
}

// now returns the committed state.
func (j *Journal) now() (state, <-chan struct{}, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.moved == nil {
		return state{}, nil, journal.ErrClosed
	}
	return j.state, j.moved, nil
}

// Epoch returns the random name that the journal got when it was created.
func (j *Journal) Epoch() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state.epoch
}

// Head returns the newest sequence number.
func (j *Journal) Head(context.Context) (int64, error) {
	s, _, err := j.now()
	return s.head, err
}

// Oldest returns the oldest sequence number whose body is kept.
func (j *Journal) Oldest(context.Context) (int64, error) {
	s, _, err := j.now()
	return s.oldest, err
}

// Wait returns once Head is above after, ctx ends, or the journal is closed.
func (j *Journal) Wait(ctx context.Context, after int64) error {
	return journal.Await(ctx, after, func() (int64, <-chan struct{}, error) {
		s, moved, err := j.now()
		return s.head, moved, err
	})
}
