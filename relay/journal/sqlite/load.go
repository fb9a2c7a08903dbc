package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

var errDamaged = errors.New("is damaged")

// loadIdentities adds the ids above what s already knows: whole runs from
// id_digests above the sequence number stored, the newest from the events
// themselves. It returns the number up to which id_digests reaches now.
func loadIdentities(ctx context.Context, c *sql.Conn, s *identities, stored int64) (int64, error) {
	stored, err := loadRuns(ctx, c, s, stored)
	if err != nil {
		return 0, err
	}
	rows, err := c.QueryContext(ctx, "SELECT seq, id FROM events WHERE seq > ? ORDER BY seq", s.count)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var id string
		if err := rows.Scan(&seq, &id); err != nil {
			return 0, err
		}
		if seq != s.count+1 {
			return 0, fmt.Errorf("%w: event %d is missing", errDamaged, s.count+1)
		}
		s.add(digestOf(id))
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
