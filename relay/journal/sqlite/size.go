package sqlite

import (
	"context"

	"tillwatch/relay/journal"
)

var _ journal.Sized = (*Journal)(nil)

const selectUsedBytes = `
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`

// Size counts the pages of the database that are in use, those of the ids included.
// Pages of pruned events stay in the file and are filled again: the file keeps the
// size that it has once reached. The log beside it is bounded by itself.
func (j *Journal) Size(ctx context.Context) (size int64, err error) {
	if _, err := j.Head(ctx); err != nil {
		return 0, err
	}
	err = j.reading.QueryRowContext(ctx, selectUsedBytes).Scan(&size)
	return size, readError(err)
}
