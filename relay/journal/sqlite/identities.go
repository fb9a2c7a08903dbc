package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
)

const (
	digestSize = 16
	runLength  = 8192 // ids in a row of id_digests
)

// digest stands for an event id: the first 128 bits of its SHA-256. All of them are
// kept in memory: with a unique index on the disk instead, the journal took less
// than half as many events a second.
type digest [digestSize]byte

func digestOf(id string) digest {
	var room [128]byte // most ids fit: no copy on the heap
	sum := sha256.Sum256(append(room[:0], id...))
	return digest(sum[:digestSize])
}

var errDamaged = errors.New("is damaged")

func missing(seq int64) error { return fmt.Errorf("%w: event %d is missing", errDamaged, seq) }

// loadIDs adds the ids above the sequence number stored: whole runs from id_digests,
// the newest from the events themselves. It returns the number up to which id_digests
// reaches now, and the ids that follow, which it does not hold yet.
func loadIDs(ctx context.Context, c *sql.Conn, ids map[digest]int64, stored int64) (int64, []digest, error) {
	stored, err := loadRuns(ctx, c, ids, stored)
	if err != nil {
		return 0, nil, err
	}
	rows, err := c.QueryContext(ctx, "SELECT "+packColumns+" FROM packs WHERE last > ? ORDER BY last", stored)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	var unstored []digest
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
				d := digestOf(string(events.id))
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

func loadRuns(ctx context.Context, c *sql.Conn, ids map[digest]int64, stored int64) (int64, error) {
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
			ids[digest(run[:digestSize])] = stored
		}
	}
	return stored, rows.Err()
}

// loadEnds returns the oldest sequence number with a body, or the next one when
// the newest that had one is head, and the latest time of receipt.
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
