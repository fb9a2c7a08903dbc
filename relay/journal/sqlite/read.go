package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"tillwatch/relay/journal"
)

const selectFrom = "SELECT " + packColumns + " FROM packs WHERE last >= ? ORDER BY last"

// Read reads committed records without waiting for the writer. Bodies that were
// stored together share memory.
func (j *Journal) Read(ctx context.Context, after int64, limit int) ([]journal.Record, error) {
	head, err := j.Head(ctx)
	if err != nil {
		return nil, err
	}
	after = max(after, 0)
	if after >= head || limit <= 0 {
		return nil, nil
	}
	records, err := j.readPacks(ctx, after, head, limit)
	if err == nil && len(records) > 0 {
		err = j.addRepeats(ctx, records)
	}
	if err != nil {
		return nil, j.readError(err)
	}
	return records, nil
}

func (j *Journal) readPacks(ctx context.Context, after, head int64, limit int) ([]journal.Record, error) {
	rows, err := j.reading.QueryContext(ctx, selectFrom, after+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	records := make([]journal.Record, 0, min(int64(limit), head-after))
	for bytes := 0; rows.Next(); {
		p, err := scanPack(rows)
		if err != nil {
			return nil, err
		}
		if n := len(records); n > 0 && p.first != records[n-1].Seq+1 {
			return nil, missing(records[n-1].Seq + 1)
		}
		events := p.events()
		for events.next() {
			if events.seq <= after {
				continue
			}
			if len(records) == limit || bytes >= journal.ReadBytes || events.seq > head {
				return records, nil
			}
			records = append(records, events.record())
			bytes += len(events.body)
		}
		if events.err != nil {
			return nil, events.err
		}
		if len(records) == limit || bytes >= journal.ReadBytes || p.last >= head {
			return records, nil
		}
	}
	return records, rows.Err()
}

// addRepeats fills in the duplicates and conflicts of consecutive records.
func (j *Journal) addRepeats(ctx context.Context, records []journal.Record) error {
	first := records[0].Seq
	rows, err := j.reading.QueryContext(ctx, "SELECT seq, duplicates, conflicts FROM repeats WHERE seq BETWEEN ? AND ?",
		first, records[len(records)-1].Seq)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var duplicates, conflicts int
		if err := rows.Scan(&seq, &duplicates, &conflicts); err != nil {
			return err
		}
		r := &records[seq-first]
		r.Duplicates, r.Conflicts = duplicates, conflicts
	}
	return rows.Err()
}

// Find looks the id up in memory and reads its record.
func (j *Journal) Find(ctx context.Context, id string) (journal.Record, bool, error) {
	head, err := j.Head(ctx)
	if err != nil {
		return journal.Record{}, false, err
	}
	seq, found := j.known(journal.DigestOf(id))
	if !found || seq > head {
		return journal.Record{}, false, nil
	}
	p, err := scanPack(j.reading.QueryRowContext(ctx, selectFrom+" LIMIT 1", seq))
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !p.holds(seq):
		return journal.Record{Seq: seq, Entry: journal.Entry{ID: id}}, true, nil
	case err != nil:
		return journal.Record{}, false, j.readError(err)
	}
	record, err := p.find(seq)
	if err == nil {
		one := []journal.Record{record}
		err = j.addRepeats(ctx, one)
		record = one[0]
	}
	if err != nil {
		return journal.Record{}, false, j.readError(err)
	}
	return record, true, nil
}

// Quarantined reads the newest quarantined bodies.
func (j *Journal) Quarantined(ctx context.Context, limit int) ([]journal.Unreadable, error) {
	if _, err := j.Head(ctx); err != nil {
		return nil, err
	}
	rows, err := j.reading.QueryContext(ctx,
		"SELECT received, reason, body FROM quarantine ORDER BY number DESC LIMIT ?", max(limit, 0))
	if err != nil {
		return nil, j.readError(err)
	}
	defer rows.Close()
	var all []journal.Unreadable
	for size := 0; size < journal.QuarantineBytes && rows.Next(); {
		var u journal.Unreadable
		var received int64
		if err := rows.Scan(&received, &u.Reason, &u.Body); err != nil {
			return nil, j.readError(err)
		}
		u.Received = journal.Instant(received)
		all = append(all, u)
		size += len(u.Body)
	}
	return all, j.readError(rows.Err())
}

func (j *Journal) readError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read the journal: %w", j.instructive(err))
}
