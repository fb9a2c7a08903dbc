package sqlite

import (
	"context"
	"errors"
	"time"

	"tillwatch/relay/journal"
)

// pruneStep bounds the events that one transaction removes, so that appends do
// not wait long behind it.
const pruneStep = 2000

var errFull = errors.New("the journal has reached its highest sequence number")

// Append stores entries in one transaction, with those of others.
func (j *Journal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	results := make([]journal.Result, len(entries))
	err := j.writer.do(ctx, func(b *batch) (err error) {
		for i, e := range entries {
			if results[i], err = b.append(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Prune removes old events in steps, each durable by itself. It removes
// quarantined bodies of that age as well, without counting them.
func (j *Journal) Prune(ctx context.Context, t time.Time) (int64, error) {
	var removed int64
	for {
		var step int64
		err := j.writer.do(ctx, func(b *batch) (err error) {
			step, err = b.prune(t)
			return err
		})
		removed += step
		if err != nil || step == 0 {
			return removed, err
		}
	}
}

func (b *batch) prune(t time.Time) (int64, error) {
	connection := b.writer.connection
	if _, err := connection.ExecContext(b.ctx, "DELETE FROM quarantine WHERE received < ?", nanoseconds(t)); err != nil {
		return 0, err
	}
	// The oldest run of events that are all older than t, at most a step long.
	var oldest, keep int64
	err := connection.QueryRowContext(b.ctx, `
		SELECT ifnull(min(seq), 0), ifnull(min(CASE WHEN received >= ?1 THEN seq END), ifnull(max(seq), 0) + 1)
		FROM (SELECT seq, received FROM events ORDER BY seq LIMIT ?2)`,
		nanoseconds(t), pruneStep).Scan(&oldest, &keep)
	if err != nil {
		return 0, err
	}
	return b.remove(oldest, keep)
}

// remove deletes the events from oldest on that stand before keep.
func (b *batch) remove(oldest, keep int64) (int64, error) {
	if oldest == 0 || keep <= oldest {
		return 0, nil
	}
	if err := b.storeDigests(keep - 1); err != nil {
		return 0, err
	}
	if _, err := b.writer.connection.ExecContext(b.ctx, "DELETE FROM events WHERE seq < ?", keep); err != nil {
		return 0, err
	}
	b.oldest = keep
	return keep - oldest, nil
}

// Quarantine keeps a body that is no event.
func (j *Journal) Quarantine(ctx context.Context, u journal.Unreadable) error {
	return j.writer.do(ctx, func(b *batch) error {
		_, err := b.writer.connection.ExecContext(b.ctx,
			"INSERT INTO quarantine (received, reason, body) VALUES (?, ?, ?)",
			nanoseconds(u.Received), u.Reason, nonNil(u.Body))
		return err
	})
}

// Check commits a change to the disk.
func (j *Journal) Check(ctx context.Context) error {
	return j.writer.do(ctx, func(b *batch) error {
		_, err := b.writer.connection.ExecContext(b.ctx, "UPDATE journal SET checks = checks + 1")
		return err
	})
}
