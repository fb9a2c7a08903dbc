// Package postgres is the journal in a PostgreSQL database, which several relays share: any of them appends, any reads,
// and all see one order.
package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

const (
	// channel is where each commit announces itself.
	channel = "tillwatch"
	// pollInterval is the longest delay of a commit whose notification got lost.
	pollInterval = 500 * time.Millisecond
)

// Journal is a [journal.Journal] in a PostgreSQL database. Each batch locks the row with the head until it is
// committed: sequence numbers become visible in their order, whichever relay writes.
type Journal struct {
	*groupcommit.Queue[*appending]
	*database
	tail sync.WaitGroup

	mu    sync.Mutex
	state state
	moved chan struct{} // closed when state changes
}

// state is the row that all relays share.
type state struct {
	epoch                string
	head, oldest, latest int64
}

const selectState = "SELECT epoch, head, oldest, latest FROM tillwatch_journal"

func scanState(row pgx.Row) (s state, err error) {
	err = row.Scan(&s.epoch, &s.head, &s.oldest, &s.latest)
	return s, err
}

// Open opens the journal in the database that dsn names, as a URL or as key words and values; PG… variables supply
// what it omits. It creates its tables, tillwatch_…, in the first schema of the search path. Every error is one
// sentence that says what to do, without a password.
func Open(ctx context.Context, dsn string) (journal.Journal, error) {
	d, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	j := &Journal{Queue: groupcommit.New[*appending](), database: d, moved: make(chan struct{})}
	if j.state, err = j.look(ctx); err != nil {
		d.close()
		return nil, err
	}
	go j.Run(j.commit)
	j.tail.Go(j.follow)
	return j, nil
}

// Close fails appends that have not begun with [journal.ErrClosed], waits for the others and closes the connections.
// Further calls do nothing.
func (j *Journal) Close() error {
	if j.Stop() {
		j.end()
		j.mu.Lock()
		j.wake()
		j.mu.Unlock()
		j.tail.Wait()
		j.close()
	}
	return nil
}

// follow keeps the state current until the journal is closed. Every other call fails with the same errors, and reports
// them.
func (j *Journal) follow() {
	for j.life.Err() == nil {
		_ = j.listen()
		select {
		case <-time.After(pollInterval):
		case <-j.life.Done():
		}
	}
}

// listen looks at the state after each notification of a commit, and at least every pollInterval.
func (j *Journal) listen() (err error) {
	defer journal.Recovered(&err)
	pooled, err := j.pool.Acquire(j.life)
	if err != nil {
		return err
	}
	c := pooled.Hijack() // it listens, and so never goes back
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.Close(closing)
	}()
	looking, cancel := context.WithTimeout(j.life, callTimeout)
	_, err = c.Exec(looking, "LISTEN "+channel)
	cancel()
	if err != nil {
		return err
	}
	for {
		if err := j.poll(c); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(j.life, pollInterval)
		_, err := c.WaitForNotification(waiting)
		late := waiting.Err() != nil
		cancel()
		if err != nil && (!late || c.IsClosed()) {
			return err
		}
	}
}

// poll takes the state over. It only goes back if the database did, as when an older copy was restored: another commit
// may have been published meanwhile.
func (j *Journal) poll(c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(j.life, callTimeout)
	defer cancel()
	before := j.now()
	found, err := scanState(c.QueryRow(ctx, selectState))
	if err == nil && (found.head < before.head || found.epoch != before.epoch || found.head > j.now().head) {
		j.publish(found)
	}
	return err
}

func (j *Journal) now() state {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

func (j *Journal) publish(s state) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state = s
	j.wake()
}

func (j *Journal) wake() {
	close(j.moved)
	j.moved = make(chan struct{})
}

// Epoch returns the random name that the journal got when it was created.
func (j *Journal) Epoch() string { return j.now().epoch }

// Head asks the database: another relay may have acknowledged an event that this one does not know yet.
func (j *Journal) Head(ctx context.Context) (int64, error) {
	s, err := j.look(ctx)
	return s.head, err
}

// Oldest asks the database.
func (j *Journal) Oldest(ctx context.Context) (int64, error) {
	s, err := j.look(ctx)
	return s.oldest, err
}

func (j *Journal) look(ctx context.Context) (s state, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		s, err = scanState(j.pool.QueryRow(ctx, selectState))
		return err
	})
	return s, err
}

// Wait returns once Head is above after, ctx ends, or the journal is closed. While the database is unreachable, it
// waits.
func (j *Journal) Wait(ctx context.Context, after int64) error {
	return journal.Await(ctx, after, func() (int64, <-chan struct{}, error) {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.life.Err() != nil {
			return 0, nil, journal.ErrClosed
		}
		return j.state.head, j.moved, nil
	})
}
