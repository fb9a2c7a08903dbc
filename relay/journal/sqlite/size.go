package sqlite

import (
	"context"
	"database/sql"

	"tillwatch/relay/journal"
)

var _ journal.Sized = (*Journal)(nil)

// Size counts the pages of the database that are in use, those of the ids included.
// Pages of pruned events stay in the file and are filled again: the file keeps the
// size that it has once reached. The log beside it is bounded by itself.
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

func usedBytes(ctx context.Context, c *sql.Conn) (int64, error) {
	var pages, free, page int64
	for _, each := range []struct {
		query string
		into  *int64
	}{
		{"PRAGMA page_count", &pages},
		{"PRAGMA freelist_count", &free},
		{"PRAGMA page_size", &page},
	} {
		if err := c.QueryRowContext(ctx, each.query).Scan(each.into); err != nil {
			return 0, err
		}
	}
	return (pages - free) * page, nil
}
