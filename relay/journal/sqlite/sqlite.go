// Package sqlite is the journal in one embedded database file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"tillwatch/relay/journal"
)

const readers = 4

// Journal is a [journal.Journal] in an SQLite database in WAL mode. One
// goroutine writes: it commits what has queued while the disk was busy with the
// commit before, and nobody is told of a commit before it is synced.
type Journal struct {
	epoch   string
	reading *sql.DB
	unlock  func() error
	mark    *mark
	writer  *writer

	lostFrom, lostTo int64

	mu     sync.Mutex
	ids    *identities // those of committed entries, a little ahead of head
	head   int64
	oldest int64
	moved  chan struct{} // closed when head moves
}

var _ journal.Journal = (*Journal)(nil)

// Open opens or creates the journal in folder dir. It is for one process at a
// time: a second one is refused. Files are readable by this user alone. Every
// error is a sentence that says what to do.
func Open(ctx context.Context, dir string) (journal.Journal, error) {
	j, err := open(ctx, folder{path: dir})
	if err != nil {
		return nil, explain(dir, err)
	}
	return j, nil
}

func open(ctx context.Context, in folder) (_ *Journal, err error) {
	if err := in.prepare(); err != nil {
		return nil, err
	}
	unlock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	j := &Journal{unlock: unlock, ids: newIdentities(), moved: make(chan struct{})}
	if j.mark, err = openMark(in.path); err != nil {
		return nil, errors.Join(err, unlock())
	}
	j.writer, err = openWriter(ctx, in, j)
	if err != nil {
		return nil, errors.Join(err, j.mark.close(), unlock())
	}
	j.reading, err = in.database(databaseName, "busy_timeout(5000)", "query_only(1)", "cache_size(-1024)")
	if err != nil {
		return nil, errors.Join(err, j.writer.close(), j.mark.close(), unlock())
	}
	j.reading.SetMaxOpenConns(readers)
	j.reading.SetMaxIdleConns(readers)
	go j.writer.Run(j.writer.transact)
	return j, nil
}

// Close ends appends that have not begun with [journal.ErrClosed], waits for
// the others and lets go of the folder. It may be called more than once.
func (j *Journal) Close() error {
	if !j.writer.Stop() {
		return nil
	}
	j.mu.Lock()
	close(j.moved)
	j.moved = nil
	j.mu.Unlock()
	return errors.Join(j.reading.Close(), j.writer.close(), j.mark.close(), j.unlock())
}

// Epoch is a random name that the journal got when it was created, or when it
// was found to have lost events.
func (j *Journal) Epoch() string { return j.epoch }

// Lost is the range of sequence numbers that were acknowledged and that the
// database no longer had when it was opened; from is above to when there is
// none. Because of it the journal has another epoch now.
func (j *Journal) Lost() (from, to int64) { return j.lostFrom, j.lostTo }

// Head is the newest sequence number. It does not touch the disk.
func (j *Journal) Head(context.Context) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.moved == nil {
		return 0, journal.ErrClosed
	}
	return j.head, nil
}

// Oldest is the oldest sequence number with a body. It does not touch the disk.
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
	for {
		j.mu.Lock()
		head, moved := j.head, j.moved
		j.mu.Unlock()
		switch {
		case moved == nil:
			return journal.ErrClosed
		case head > after:
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// remember adds the ids of committed entries and returns the head that they
// lead to. Readers see no further than the head that was published.
func (j *Journal) remember(fresh []digest) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, d := range fresh {
		j.ids.add(d)
	}
	return j.ids.count
}

// published makes known what a durable transaction has added and removed.
func (j *Journal) published(changes *batch, head int64) {
	if len(changes.fresh) > 0 {
		j.mark.write(j.epoch, head)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.oldest = max(j.oldest, changes.oldest)
	if head == j.head {
		return
	}
	j.head = head
	close(j.moved)
	j.moved = make(chan struct{})
}

// known finds the sequence number of a committed id.
func (j *Journal) known(d digest) (int64, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ids.find(d)
}
