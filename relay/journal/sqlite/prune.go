package sqlite

import (
	"context"
	"time"

	"tillwatch/relay/journal"
)

// A transaction that prunes removes at most about this many events or bytes: appends
// wait for it.
const (
	pruneStep      = 2000
	pruneStepBytes = 4 << 20
)

// Prune removes old events in steps, each in a transaction of its own. It also
// removes quarantined bodies of that age, and does not count them.
func (j *Journal) Prune(ctx context.Context, t time.Time) (int64, error) {
	until := journal.Nanoseconds(t)
	return j.prune(ctx, func(b *batch) (int64, error) {
		if err := b.execute("DELETE FROM quarantine WHERE received < ?", until); err != nil {
			return 0, err
		}
		return b.removeWhile(func(event *unpacking) bool { return event.received < until })
	})
}

func (j *Journal) prune(ctx context.Context, step func(*batch) (int64, error)) (int64, error) {
	return journal.PruneSteps(func() (int64, error) {
		var count int64
		err := j.writer.Do(ctx, func(b *batch) (err error) {
			count, err = step(b)
			return err
		})
		if err != nil {
			return 0, err // the step may still be under way
		}
		return count, nil
	})
}

// removeWhile removes the oldest events while old returns true, at most one step of
// them.
func (b *batch) removeWhile(old func(*unpacking) bool) (int64, error) {
	oldest, keep, straddled, err := b.findWhile(old)
	if err != nil || keep == oldest {
		return 0, err
	}
	if err := b.storeDigests(keep - 1); err != nil {
		return 0, err
	}
	if straddled.first < keep && straddled.holds(keep) {
		if err := b.cut(straddled, keep); err != nil {
			return 0, err
		}
	}
	if err := b.execute("DELETE FROM packs WHERE last < ?", keep); err != nil {
		return 0, err
	}
	if err := b.execute("DELETE FROM repeats WHERE seq < ?", keep); err != nil {
		return 0, err
	}
	b.oldest = keep
	b.looked = pack{}
	return keep - oldest, nil
}

// findWhile returns the oldest sequence number, the first one to keep (old returned
// false, or the step is full), and the last pack that it read.
func (b *batch) findWhile(old func(*unpacking) bool) (oldest, keep int64, in pack, err error) {
	rows, err := b.writer.connection.QueryContext(b.ctx, "SELECT "+packColumns+" FROM packs ORDER BY last")
	if err != nil {
		return 0, 0, pack{}, err
	}
	defer rows.Close()
	for bytes := 0; keep-oldest < pruneStep && bytes < pruneStepBytes && rows.Next(); {
		if in, err = scanPack(rows); err != nil {
			return 0, 0, in, err
		}
		if oldest == 0 {
			oldest, keep = in.first, in.first
		}
		bytes += len(in.data)
		events := in.events()
		for events.next() && old(&events) {
			keep = events.seq + 1
		}
		if events.err != nil || keep <= in.last {
			return oldest, keep, in, events.err
		}
	}
	return oldest, keep, in, rows.Err()
}

// cut removes the events before keep from p.
func (b *batch) cut(p pack, keep int64) error {
	kept, err := p.without(keep)
	if err != nil {
		return err
	}
	b.bytes += len(kept.data)
	return b.execute("UPDATE packs SET first = ?, latest = ?, events = ? WHERE last = ?", kept.first, kept.latest, kept.seal(), kept.last)
}

func (b *batch) execute(statement string, values ...any) error {
	_, err := b.writer.connection.ExecContext(b.ctx, statement, values...)
	return err
}

// packColumns are the columns that scanPack reads.
const packColumns = "first, last, latest, events"

func scanPack(row interface{ Scan(...any) error }) (pack, error) {
	var p pack
	if err := row.Scan(&p.first, &p.last, &p.latest, &p.data); err != nil {
		return pack{}, err
	}
	return p, p.check()
}
