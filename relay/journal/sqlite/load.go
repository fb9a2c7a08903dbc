package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var errDamaged = errors.New("is damaged")

func missing(seq int64) error { return fmt.Errorf("%w: event %d is missing", errDamaged, seq) }

// loadIdentities adds the ids above what s already knows: whole runs from
// id_digests above the sequence number stored, the newest from the events
// themselves. It returns the number up to which id_digests reaches now.
func loadIdentities(ctx context.Context, c *sql.Conn, s *identities, stored int64) (int64, error) {
	stored, err := loadRuns(ctx, c, s, stored)
	if err != nil {
		return 0, err
	}
	rows, err := c.QueryContext(ctx, "SELECT "+packColumns+" FROM packs WHERE last > ? ORDER BY last", s.count)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPack(rows)
		if err != nil {
			return 0, err
		}
		if p.first > s.count+1 {
			return 0, missing(s.count + 1)
		}
		events := p.events()
		for events.next() {
			if events.seq > s.count {
				s.add(digestOf(string(events.id)))
			}
		}
		if events.err != nil {
			return 0, events.err
		}
	}
	return stored, rows.Err()
}

func loadRuns(ctx context.Context, c *sql.Conn, s *identities, stored int64) (int64, error) {
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
			if stored++; stored > s.count {
				s.add(digest(run[:digestSize]))
			}
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
