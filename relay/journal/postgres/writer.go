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
	// transactTimeout bounds one commit, including the wait for other relays.
	transactTimeout = 10 * time.Second
	// reconnectPause keeps a busy relay from hammering an unreachable server.
	reconnectPause = 100 * time.Millisecond
)

var errWentBack = errors.New("the database has lost events that it had acknowledged: a new epoch begins")

// appending is one call of [Journal.Append].
type appending struct {
	entries []journal.Entry
	results []journal.Result // set once it is committed
}

// writer owns the one connection that appends.
type writer struct {
	*groupcommit.Queue[*appending]
	journal *Journal
	config  *pgx.ConnConfig

	// Of the goroutine that runs the writer:
	connection *pgx.Conn // nil after a failure
	failed     time.Time // when connecting last failed
}

// Append stores entries in one transaction, together with those of concurrent calls.
func (j *Journal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	a := &appending{entries: entries}
	if err := j.writer.Do(ctx, a); err != nil {
		return nil, err
	}
	return a.results, nil
}

// commit stores all work that is queued by the time it holds the lock, and answers
// the callers.
func (w *writer) commit(works *groupcommit.Batch[*appending]) {
	var calls []*appending
	for a, ok := works.Next(); ok; a, ok = works.Next() {
		calls = append(calls, a)
	}
	if len(calls) == 0 {
		return // every caller has given up
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

// lock begins a transaction and waits for its turn among the relays. An idle
// connection may have died: as nothing was written, a new one may try again.
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

// store commits b. before is the state that this relay knew before the lock: a
// database with less has lost events.
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
