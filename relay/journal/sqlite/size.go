package sqlite

import (
	"context"
	"database/sql"

	"tillwatch/relay/journal"
)

var _ journal.Sized = (*Journal)(nil)

// rowBytes is what a row takes beside its texts and its body, about.
const rowBytes = 40

// Size counts the pages in use. Pages of pruned events stay in the file and are
// filled again: the file keeps the size that it has once reached.
func (j *Journal) Size(ctx context.Context) (size int64, err error) {
	if _, err := j.Head(ctx); err != nil {
		return 0, err
	}
	connection, err := j.reading.Conn(ctx)
	if err != nil {
		return 0, readError(err)
	}
	defer connection.Close()
	size, err = usedBytes(ctx, connection)
	return size, readError(err)
}

// usedBytes are those of the pages in use, without the ids.
func usedBytes(ctx context.Context, c *sql.Conn) (int64, error) {
	var pages, free, page, ids int64
	for _, each := range []struct {
		query string
		into  *int64
	}{
		{"PRAGMA page_count", &pages},
		{"PRAGMA freelist_count", &free},
		{"PRAGMA page_size", &page},
		{"SELECT ifnull(sum(length(digests)), 0) FROM id_digests", &ids},
	} {
		if err := c.QueryRowContext(ctx, each.query).Scan(each.into); err != nil {
			return 0, err
		}
	}
	return max((pages-free)*page-ids, 0), nil
}

// PruneTo removes old events in steps, each durable by itself.
func (j *Journal) PruneTo(ctx context.Context, limit int64) (int64, error) {
	var removed int64
	for {
		var step int64
		err := j.writer.do(ctx, func(b *batch) (err error) {
			step, err = b.pruneTo(limit)
			return err
		})
		removed += step
		if err != nil || step == 0 {
			return removed, err
		}
	}
}

// pruneTo removes the shortest run of the oldest events whose bytes make up for
// what is above limit, at most a step of it.
func (b *batch) pruneTo(limit int64) (int64, error) {
	connection := b.writer.connection
	used, err := usedBytes(b.ctx, connection)
	if err != nil || used <= limit {
		return 0, err
	}
	var oldest, last int64
	err = connection.QueryRowContext(b.ctx, `
		SELECT ifnull(min(seq), 0), ifnull(min(CASE WHEN total >= ?1 THEN seq END), ifnull(max(seq), 0))
		FROM (SELECT seq, sum(length(body) + length(id) + length(type) + ?2) OVER (ORDER BY seq) AS total
			FROM (SELECT seq, id, type, body FROM events ORDER BY seq LIMIT ?3))`,
		used-limit, rowBytes, pruneStep).Scan(&oldest, &last)
	if err != nil {
		return 0, err
	}
	return b.remove(oldest, last+1)
}
