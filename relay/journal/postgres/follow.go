package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

const (
	// pollInterval is the longest delay of another relay's commit whose notification
	// got lost.
	pollInterval = 500 * time.Millisecond
	pollTimeout  = 5 * time.Second
	tailRetry    = 500 * time.Millisecond
)

// renewStatement begins a new epoch after a loss of events: others will get their
// sequence numbers. Of several relays, only the first changes it.
const renewStatement = "UPDATE tillwatch_journal SET epoch = $1 WHERE epoch = $2"

// follow keeps the state of the journal current until ctx ends.
func (j *Journal) follow(ctx context.Context, config *pgx.ConnConfig) {
	// Every other call fails with the same errors, and reports them.
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, j.listen(ctx, config) },
		backoff.WithBackOff(backoff.NewConstantBackOff(tailRetry)), backoff.WithMaxElapsedTime(0))
}

// listen polls on a connection of its own, at once after a notification of a commit,
// and at least every pollInterval.
func (j *Journal) listen(ctx context.Context, config *pgx.ConnConfig) (err error) {
	defer journal.Recovered(&err)
	connection, err := connect(ctx, config)
	if err != nil {
		return err
	}
	defer disconnect(connection)
	listening, cancel := context.WithTimeout(ctx, pollTimeout)
	_, err = connection.Exec(listening, "LISTEN "+channel)
	cancel()
	if err != nil {
		return err
	}
	for {
		if err := j.poll(ctx, connection); err != nil {
			return err
		}
		if err := j.await(ctx, connection); err != nil {
			return err
		}
	}
}

func (j *Journal) poll(ctx context.Context, connection *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	known := j.current()
	found, err := look(ctx, connection)
	if err != nil {
		return err
	}
	if found.head < known.head {
		j.lost(found.head+1, known.head)
		if _, err := connection.Exec(ctx, renewStatement, journal.NewEpoch(), known.epoch); err != nil {
			return err
		}
		if found, err = look(ctx, connection); err != nil {
			return err
		}
	}
	j.observe(found)
	return nil
}

func look(ctx context.Context, connection *pgx.Conn) (found state, err error) {
	err = connection.QueryRow(ctx, selectState).Scan(&found.epoch, &found.head, &found.oldest)
	return found, err
}

func (j *Journal) lost(from, to int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lostFrom, j.lostTo = from, to
}

// await returns when a notification announces a new commit, or when it is time to
// poll.
func (j *Journal) await(ctx context.Context, connection *pgx.Conn) error {
	waiting, cancel := context.WithTimeout(ctx, pollInterval)
	defer cancel()
	for {
		notification, err := connection.WaitForNotification(waiting)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && waiting.Err() != nil && !connection.IsClosed():
			return nil
		case err != nil:
			return err
		case j.isNews(notification.Payload):
			return nil
		}
	}
}

// isNews reports whether a notification names a head above the known one. This
// relay's own commits are known already.
func (j *Journal) isNews(payload string) bool {
	known := j.current()
	epoch, number, _ := strings.Cut(payload, " ")
	head, err := strconv.ParseInt(number, 10, 64)
	return err == nil && epoch == known.epoch && head > known.head
}
