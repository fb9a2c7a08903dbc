// Package postgres is the journal in a PostgreSQL database, which several
// relays share: any of them appends, any reads, and all see one order.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

// callTimeout bounds every call except appends.
const callTimeout = 10 * time.Second

// Journal is a [journal.Journal] in a PostgreSQL database. Each batch locks the row
// with the head until it is committed: sequence numbers become visible in their
// order, whichever relay writes.
type Journal struct {
	pool   *pgxpool.Pool
	writer *writer
	life   context.Context // ends with Close
	end    context.CancelFunc
	tail   sync.WaitGroup
	once   sync.Once

	warning string

	mu               sync.Mutex
	state            state
	moved            chan struct{} // closed when state changes
	lostFrom, lostTo int64
}

// state is the row that all relays share.
type state struct {
	epoch        string
	head, oldest int64
}

const selectState = "SELECT epoch, head, oldest FROM tillwatch_journal"

var _ journal.Journal = (*Journal)(nil)

// Open opens the journal in the database that dsn names, as a URL or as key words and
// values; PG… variables supply what it omits. It creates its tables, tillwatch_…, in
// the first schema of the search path. Every error is one sentence that says what to
// do, without a password.
func Open(ctx context.Context, dsn string) (journal.Journal, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	j, err := open(ctx, config)
	if err != nil {
		return nil, explain(config.ConnConfig, err)
	}
	return j, nil
}

func open(ctx context.Context, config *pgxpool.Config) (*Journal, error) {
	connection, err := connect(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	found, warning, err := prepare(ctx, connection)
	if err != nil {
		disconnect(connection)
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	pool, err := pgxpool.NewWithConfig(life, config)
	if err != nil {
		end()
		disconnect(connection)
		return nil, err
	}
	j := &Journal{pool: pool, life: life, end: end, warning: warning, state: found, moved: make(chan struct{})}
	j.writer = &writer{Queue: groupcommit.New[*appending](), journal: j, config: config.ConnConfig, connection: connection}
	go j.writer.Run(j.writer.commit)
	j.tail.Go(func() { j.follow(life, config.ConnConfig) })
	return j, nil
}

// prepare creates and checks the tables, and returns their state and a warning if
// the server is unsafe.
func prepare(ctx context.Context, connection *pgx.Conn) (found state, warning string, err error) {
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	if err := migrate(ctx, connection); err != nil {
		return state{}, "", err
	}
	if err := checkContinuity(ctx, connection); err != nil {
		return state{}, "", err
	}
	if found, err = look(ctx, connection); err != nil {
		return state{}, "", err
	}
	warning, err = unsafety(ctx, connection)
	return found, warning, err
}

// Close fails appends that have not begun with [journal.ErrClosed], waits for the
// others and closes the connections. Further calls do nothing.
func (j *Journal) Close() error {
	j.once.Do(func() {
		j.writer.Stop()
		j.writer.disconnect()
		j.end()
		j.mu.Lock()
		j.wake()
		j.mu.Unlock()
		j.tail.Wait()
		j.pool.Close()
	})
	return nil
}

// Epoch returns the random name that the journal got when it was created, or when the
// database was last found to have lost events. Another relay's change shows here
// within one poll.
func (j *Journal) Epoch() string { return j.current().epoch }

// Warning says why the server may lose acknowledged events; "" if it is safe.
func (j *Journal) Warning() string { return j.warning }

// Lost returns the range of sequence numbers that this relay has seen and that the
// database has lost since, as in a failover to a copy that was behind; from is above
// to if there are none.
func (j *Journal) Lost() (from, to int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lostFrom == 0 {
		return j.state.head + 1, j.state.head
	}
	return j.lostFrom, j.lostTo
}

// Head asks the database: another relay may have acknowledged an event that this one
// does not know yet.
func (j *Journal) Head(ctx context.Context) (int64, error) { return j.number(ctx, "head") }

// Oldest asks the database.
func (j *Journal) Oldest(ctx context.Context) (int64, error) { return j.number(ctx, "oldest") }

// Size counts the bytes of the stored events' texts and bodies, with an estimate of
// the rows' overhead. The database files may be larger until a vacuum.
func (j *Journal) Size(ctx context.Context) (int64, error) { return j.number(ctx, "bytes") }

// number reads a column of the state.
func (j *Journal) number(ctx context.Context, column string) (n int64, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		return j.pool.QueryRow(ctx, "SELECT "+column+" FROM tillwatch_journal").Scan(&n)
	})
	return n, err
}

// Wait returns once Head is above after, the epoch changes, ctx ends, or the journal
// is closed. While the database is unreachable, it waits.
func (j *Journal) Wait(ctx context.Context, after int64) error {
	epoch := j.Epoch()
	return journal.Await(ctx, after, func() (head int64, moved <-chan struct{}, err error) {
		j.mu.Lock()
		defer j.mu.Unlock()
		switch {
		case j.life.Err() != nil:
			return 0, nil, journal.ErrClosed
		case j.state.epoch != epoch:
			return 0, nil, journal.ErrEpoch
		}
		return j.state.head, j.moved, nil
	})
}

func (j *Journal) current() state {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

// publish sets a committed head and wakes everybody in [Journal.Wait].
func (j *Journal) publish(epoch string, head int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state.epoch == epoch && head > j.state.head {
		j.state.head = head
		j.wake()
	}
}

// observe sets the state that was found in the database. Within an epoch it never
// goes back: a newer commit may have been published meanwhile.
func (j *Journal) observe(found state) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if found.epoch == j.state.epoch {
		found.head = max(found.head, j.state.head)
		found.oldest = max(found.oldest, j.state.oldest)
	}
	if found != j.state {
		j.state = found
		j.wake()
	}
}

func (j *Journal) wake() {
	close(j.moved)
	j.moved = make(chan struct{})
}

// bounded runs work until ctx ends, the journal is closed, or callTimeout. verb, read
// or write, goes into its error.
func (j *Journal) bounded(ctx context.Context, verb string, work func(context.Context) error) error {
	if j.life.Err() != nil {
		return journal.ErrClosed
	}
	within, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(j.life, cancel)()
	err := work(within)
	switch {
	case err == nil:
		return nil
	case j.life.Err() != nil:
		return journal.ErrClosed
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		err = errors.Join(ctx.Err(), err)
	}
	return fmt.Errorf("%s the journal: %w", verb, oneLine{err})
}
