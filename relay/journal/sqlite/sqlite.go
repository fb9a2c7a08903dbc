// Package sqlite is the journal in one embedded database file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"runtime"
	"sync"

	"tillwatch/relay/journal"
)

const readers = 4

// Journal is a [journal.Journal] in an SQLite database in WAL mode. One goroutine
// writes: it commits together what queued during the commit before. Nobody learns of
// a commit before it is synced.
type Journal struct {
	epoch   string
	claim   *claim
	reading *sql.DB
	mark    *mark
	writer  *writer
	audit   *audit

	lostFrom, lostTo int64

	mu sync.Mutex
	// ids has the sequence numbers of all ids ever stored, from 1 on without holes. It
	// is in memory: with a unique index on the disk instead, the journal took less
	// than half as many events a second.
	ids    map[journal.Digest]int64
	oldest int64
	moved  chan struct{} // closed when the head moves; nil after Close
}

var _ journal.Journal = (*Journal)(nil)

// Open opens or creates the journal in folder dir, with files that only this user can
// read. It refuses a journal that another process has open. Every error is one
// sentence that says what to do. On a full disk what is there can be read.
func Open(ctx context.Context, dir string) (journal.Journal, error) {
	j, err := open(ctx, folder{path: dir})
	if noRoom(err) && runtime.GOOS != "windows" {
		// There is no room for SQLite's index of the log either. In memory, only this process can use it.
		j, err = open(ctx, folder{path: dir, vfs: "unix-excl"})
	}
	if err != nil {
		return nil, explain(dir, err)
	}
	return j, nil
}

func open(ctx context.Context, in folder) (_ *Journal, err error) {
	if err := in.prepare(); err != nil {
		return nil, err
	}
	held, err := take(in.path)
	if err != nil {
		return nil, err
	}
	j := &Journal{claim: held, ids: map[journal.Digest]int64{}, moved: make(chan struct{})}
	if err := j.begin(ctx, in); err != nil {
		return nil, errors.Join(err, j.letGo())
	}
	go j.writer.Run(j.writer.transact)
	return j, nil
}

// begin opens the parts of the journal.
func (j *Journal) begin(ctx context.Context, in folder) (err error) {
	if j.mark, err = openMark(in.path); err != nil {
		return err
	}
	if j.writer, err = openWriter(ctx, in, j); err != nil {
		return err
	}
	j.reading, err = in.database(j.claim, "busy_timeout(5000)", "query_only(1)", "cache_size(-1024)")
	if err != nil {
		return err
	}
	j.reading.SetMaxOpenConns(readers)
	j.reading.SetMaxIdleConns(readers)
	if err := openAll(ctx, j.reading); err != nil {
		return err
	}
	j.audit = beginAudit(j.reading)
	return j.audit.await(auditWait)
}

// openAll opens all connections for reading. They stay open, and so remain readable
// when somebody moves or removes the files.
func openAll(ctx context.Context, db *sql.DB) error {
	for range readers {
		connection, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer connection.Close()
		if err := connection.QueryRowContext(ctx, "SELECT 1 FROM journal").Scan(new(int)); err != nil {
			return err
		}
	}
	return nil
}

// letGo closes what was opened: SQLite's files first, then the claim on them.
func (j *Journal) letGo() error {
	var errs []error
	if j.audit != nil {
		j.audit.end()
	}
	if j.reading != nil {
		errs = append(errs, j.reading.Close())
	}
	if j.writer != nil {
		errs = append(errs, j.writer.close())
	}
	if j.mark != nil {
		errs = append(errs, j.mark.close())
	}
	return errors.Join(append(errs, j.claim.release())...)
}

// Close fails appends that have not begun with [journal.ErrClosed], waits for the
// others and releases the folder. Further calls do nothing.
func (j *Journal) Close() error {
	if !j.writer.Stop() {
		return nil
	}
	j.mu.Lock()
	close(j.moved)
	j.moved = nil
	j.mu.Unlock()
	return j.letGo()
}

// Epoch returns the random name that the journal got when it was created, or when it
// was last found to have lost events.
func (j *Journal) Epoch() string { return j.epoch }

// Lost returns the range of acknowledged sequence numbers that were missing when the
// database was opened; from is above to if there are none. A loss begins a new epoch.
func (j *Journal) Lost() (from, to int64) { return j.lostFrom, j.lostTo }

// Head returns the newest sequence number, from memory.
func (j *Journal) Head(context.Context) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.moved == nil {
		return 0, journal.ErrClosed
	}
	return int64(len(j.ids)), nil
}

// Oldest returns the oldest sequence number with a body, from memory.
func (j *Journal) Oldest(context.Context) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.moved == nil {
		return 0, journal.ErrClosed
	}
	return j.oldest, nil
}

// Wait returns once Head is above after, ctx ends, or the journal is closed.
func (j *Journal) Wait(ctx context.Context, after int64) error {
	return journal.Await(ctx, after, func() (head int64, moved <-chan struct{}, err error) {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.moved == nil {
			return 0, nil, journal.ErrClosed
		}
		return int64(len(j.ids)), j.moved, nil
	})
}

// published updates the state in memory after a durable transaction.
func (j *Journal) published(changes *batch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.oldest = max(j.oldest, changes.oldest)
	if len(changes.fresh) == 0 {
		return
	}
	maps.Copy(j.ids, changes.fresh)
	j.mark.write(j.epoch, int64(len(j.ids)))
	j.wake()
}

// wake wakes everybody in [Journal.Wait]. The caller holds mu.
func (j *Journal) wake() {
	close(j.moved)
	j.moved = make(chan struct{})
}

// newest returns the head, even when the journal is closed.
func (j *Journal) newest() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return int64(len(j.ids))
}

// known returns the sequence number of a committed id.
func (j *Journal) known(d journal.Digest) (seq int64, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	seq, ok = j.ids[d]
	return seq, ok
}
