package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"tillwatch/relay/journal"
)

const (
	digestSize = 16
	runLength  = 8192 // ids in a row of id_digests
)

var errDamaged = errors.New("is damaged")

func missing(seq int64) error { return fmt.Errorf("%w: event %d is missing", errDamaged, seq) }

// loadIDs adds the ids above the sequence number stored: whole runs from id_digests,
// the newest from the events themselves. It returns the last number in id_digests,
// and the ids that follow it.
func loadIDs(ctx context.Context, c *sql.Conn, ids map[journal.Digest]int64, stored int64) (int64, []journal.Digest, error) {
	stored, err := loadRuns(ctx, c, ids, stored)
	if err != nil {
		return 0, nil, err
	}
	rows, err := c.QueryContext(ctx, "SELECT "+packColumns+" FROM packs WHERE last > ? ORDER BY last", stored)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	var unstored []journal.Digest
	for next := stored + 1; rows.Next(); {
		p, err := scanPack(rows)
		if err != nil {
			return 0, nil, err
		}
		if p.first > next {
			return 0, nil, missing(next)
		}
		events := p.events()
		for events.next() {
			if events.seq == next {
				d := journal.DigestOf(string(events.id))
				ids[d], unstored = next, append(unstored, d)
				next++
			}
		}
		if events.err != nil {
			return 0, nil, events.err
		}
	}
	return stored, unstored, rows.Err()
}

func loadRuns(ctx context.Context, c *sql.Conn, ids map[journal.Digest]int64, stored int64) (int64, error) {
	rows, err := c.QueryContext(ctx, "SELECT first, digests FROM id_digests WHERE first > ? ORDER BY first", stored)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var first int64
		var run sql.RawBytes
		if err := rows.Scan(&first, &run); err != nil {
			return 0, err
		}
		if first != stored+1 || len(run)%digestSize != 0 {
			return 0, fmt.Errorf("%w: the ids from event %d on are missing", errDamaged, stored+1)
		}
		for ; len(run) > 0; run = run[digestSize:] {
			stored++
			ids[journal.Digest(run[:digestSize])] = stored
		}
	}
	return stored, rows.Err()
}

// loadEnds returns the oldest sequence number with a body, head+1 if there is none,
// and the latest time of receipt.
func loadEnds(ctx context.Context, c *sql.Conn, head int64) (oldest, latest int64, err error) {
	err = c.QueryRowContext(ctx, "SELECT first FROM packs ORDER BY last LIMIT 1").Scan(&oldest)
	if errors.Is(err, sql.ErrNoRows) {
		return head + 1, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	newest, err := scanPack(c.QueryRowContext(ctx, "SELECT "+packColumns+" FROM packs ORDER BY last DESC LIMIT 1"))
	if err != nil {
		return 0, 0, err
	}
	if newest.last != head {
		return 0, 0, missing(newest.last + 1)
	}
	events := newest.events()
	for events.next() {
	}
	return oldest, events.latest, events.err
}
