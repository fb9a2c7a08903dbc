package relay

import (
	"context"
	"time"

	"tillwatch/relay/journal"
)

// sinceSlack is how far events of an earlier version may have been stored out of
// the order in which they were received: of those, the latest time is not known.
const sinceSlack = 10 * time.Second

// before returns the sequence number behind which everything stands that was
// received at t or later. What was received shortly before may stand there, too.
func before(ctx context.Context, j journal.Journal, t time.Time, oldest, head int64) (int64, error) {
	t = t.Add(-sinceSlack)
	low, high := oldest-1, head // the answer is within both
	for low < high {
		middle := low + (high-low)/2 // low <= middle < high
		records, err := j.Read(ctx, middle, 1)
		if err != nil {
			return 0, err
		}
		if len(records) > 0 && records[0].Latest.Before(t) {
			low = records[0].Seq
		} else {
			high = middle
		}
	}
	return low, nil
}
