package sqlite

import (
	"context"

	"tillwatch/relay/journal"
)

// Append stores entries in one transaction, together with those of concurrent calls.
func (j *Journal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	results := make([]journal.Result, len(entries))
	err := j.writer.Do(ctx, func(b *batch) (err error) {
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

// Quarantine keeps a body that is not an event, and the newest of earlier ones.
func (j *Journal) Quarantine(ctx context.Context, u journal.Unreadable) error {
	return j.writer.Do(ctx, func(b *batch) error {
		b.bytes += len(u.Body)
		if err := b.execute("INSERT INTO quarantine (received, reason, body) VALUES (?, ?, ?)",
			journal.Nanoseconds(u.Received), u.Reason, journal.NonNil(u.Body)); err != nil {
			return err
		}
		return b.execute("DELETE FROM quarantine WHERE number <= (SELECT number FROM quarantine ORDER BY number DESC LIMIT 1 OFFSET ?)", journal.MostQuarantined)
	})
}

// Owns checks the ownership in a transaction that changes nothing.
func (j *Journal) Owns(ctx context.Context) error {
	return j.writer.Do(ctx, func(*batch) error { return nil })
}

// Check commits a change, and waits for the disk.
func (j *Journal) Check(ctx context.Context) error {
	if err := j.audit.found(); err != nil {
		return j.readError(err)
	}
	return j.writer.Do(ctx, func(b *batch) error {
		return b.execute("UPDATE journal SET checks = checks + 1")
	})
}
