package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

const (
	// transactTimeout bounds one commit, the wait for other relays included.
	transactTimeout = 10 * time.Second
	// reconnectPause keeps a busy relay from hammering a server that is away.
	reconnectPause = 100 * time.Millisecond
)

var errWentBack = errors.New("the database has lost events that it had acknowledged: a new epoch begins")

// appending is what one call appends.
type appending struct {
	entries []journal.Entry
	results []journal.Result // once it is committed
}

// writer owns the one connection that appends.
type writer struct {
	*groupcommit.Queue[*appending]
	journal *Journal
	config  *pgx.ConnConfig

	// Of the goroutine that runs the writer:
	connection *pgx.Conn // nil after a failure
	failed     time.Time // the last attempt to connect that failed
}

// Append stores entries in one transaction, with those of others.
func (j *Journal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	a := &appending{entries: entries}
	if err := j.writer.Do(ctx, a); err != nil {
		return nil, err
	}
	return a.results, nil
}

// commit stores the first work and whatever else has queued by the time the
// lock is held, and answers them. It waits for more before it asks for the lock:
// while it holds that, others wait for it.
func (w *writer) commit(works *groupcommit.Batch[*appending]) {
	var calls []*appending
	for a, ok := works.Next(); ok; a, ok = works.Next() {
		calls = append(calls, a)
	}
	if len(calls) == 0 {
		return // nobody waits
	}
	ctx, cancel := context.WithTimeout(context.Background(), transactTimeout)
	defer cancel()
	before := w.journal.current()
	locked, err := w.lock(ctx)
	b := newBatch(locked)
	for a, ok := works.Next(); ok; a, ok = works.Next() {
		calls = append(calls, a)
	}
	for _, a := range calls {
		b.add(a)
	}
	if err == nil {
		err = w.store(ctx, b, before)
	}
	if err != nil {
		err = fmt.Errorf("write the journal: %w", oneLine{err})
		w.disconnect()
	}
	works.Answer(err)
}

// lock begins a transaction and waits for its turn among the relays. A
// connection that was idle may have died since: as nothing was written, a new
// one may try again.
func (w *writer) lock(ctx context.Context) (locked state, err error) {
	defer journal.Recovered(&err)
	if w.connection != nil {
		locked, err := begin(ctx, w.connection)
		if err == nil || ctx.Err() != nil {
			return locked, err
		}
		w.disconnect()
	}
	select {
	case <-time.After(time.Until(w.failed.Add(reconnectPause))):
	case <-w.Closing():
		return state{}, journal.ErrClosed
	}
	connection, err := connect(ctx, w.config)
	if err != nil {
		w.failed = time.Now()
		return state{}, err
	}
	w.connection = connection
	return begin(ctx, w.connection)
}

// store commits b. before is what was known when the lock was asked for: the
// database may not hold less.
func (w *writer) store(ctx context.Context, b *batch, before state) (err error) {
	defer journal.Recovered(&err)
	if b.state.epoch != before.epoch || b.state.head < before.head {
		return errWentBack
	}
	if err := b.store(ctx, w.connection); err != nil {
		return err
	}
	w.journal.publish(b.state.epoch, b.head())
	return nil
}

func (w *writer) disconnect() {
	if w.connection != nil {
		disconnect(w.connection)
		w.connection = nil
	}
}
