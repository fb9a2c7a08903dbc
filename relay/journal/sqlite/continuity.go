package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tillwatch/relay/journal"
)

// auditWait is how long opening waits for the audit, which takes half a second for a
// million events. A longer audit goes on in the background; Check returns its result.
const auditWait = 2 * time.Second

const (
	// Without gaps, packs hold as many events as there are numbers between the ends.
	continuousStatement = "SELECT ifnull(max(last) - min(first) + 1 = sum(last - first + 1), 1) FROM packs"
	brokenStatement     = `SELECT first FROM packs AS p
WHERE first > (SELECT first FROM packs ORDER BY last LIMIT 1) AND NOT EXISTS (SELECT 1 FROM packs WHERE last = p.first - 1)
ORDER BY last LIMIT 1`
)

// audit searches all packs for one that does not follow its predecessor.
type audit struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // once it is done
}

func beginAudit(db *sql.DB) *audit {
	ctx, cancel := context.WithCancel(context.Background())
	a := &audit{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		defer journal.Recovered(&a.err)
		a.err = checkContinuity(ctx, db)
	}()
	return a
}

func checkContinuity(ctx context.Context, db *sql.DB) error {
	var continuous bool
	if err := db.QueryRowContext(ctx, continuousStatement).Scan(&continuous); err != nil || continuous {
		return err
	}
	var first int64
	err := db.QueryRowContext(ctx, brokenStatement).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: it holds events twice", errDamaged)
	}
	if err != nil {
		return err
	}
	return missing(first - 1)
}

// found returns the audit's error, nil while it runs.
func (a *audit) found() error {
	select {
	case <-a.done:
		return a.err
	default:
		return nil
	}
}

// await waits for the audit for at most longest, and returns found.
func (a *audit) await(longest time.Duration) error {
	select {
	case <-a.done:
	case <-time.After(longest):
	}
	return a.found()
}

// end ends the audit and waits for it.
func (a *audit) end() {
	a.cancel()
	<-a.done
}
