package sqlite

import (
	"context"
	"database/sql"

	"tillwatch/relay/journal"
)

var _ journal.Sized = (*Journal)(nil)

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
