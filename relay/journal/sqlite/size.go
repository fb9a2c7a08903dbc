package sqlite

import (
	"context"

	"tillwatch/relay/journal"
)

var _ journal.Sized = (*Journal)(nil)

const selectUsedBytes = `
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`

// Size counts the used pages of the database, the ids included. Pages of pruned
// events stay in the file and are reused: the file never shrinks. The log beside it
// has a bound of its own and is not counted.
func (j *Journal) Size(ctx context.Context) (size int64, err error) {
	if _, err := j.Head(ctx); err != nil {
		return 0, err
	}
	err = j.reading.QueryRowContext(ctx, selectUsedBytes).Scan(&size)
	return size, j.readError(err)
}
