package relay

import (
	"context"
	"time"

	"tillwatch/relay/journal"
)

// sinceSlack is how much earlier a stream begins than asked for: a time by the subscriber's clock is converted too late,
// by the time that its hello took to arrive.
const sinceSlack = 10 * time.Second

// before returns the sequence number after which all events received at t or later are stored. Events received
// shortly before may be there too.
func before(ctx context.Context, j journal.Journal, t time.Time, oldest, head int64) (int64, error) {
	t = t.Add(-sinceSlack)
	low, high := oldest-1, head // the answer is between them
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
