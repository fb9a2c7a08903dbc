package confirm

import (
	"context"
	"errors"
	"iter"
	"time"

	"tillwatch/api"
)

// Lister lists intents; [api.Client] is one.
type Lister interface {
	Intents(ctx context.Context) iter.Seq2[api.Intent, error]
}

const (
	// mostListed bounds how many items of the list are read.
	mostListed = 2000
	// listedFor is how far back the list is read, newest first.
	listedFor = 24 * time.Hour
)

// find looks for an intent in the service's list. whole reports whether it saw the whole last day and could read
// every item. If there is no list, the error is [api.ErrNotServed].
func find(ctx context.Context, list Lister, is func(*api.Intent) bool) (found *api.Intent, whole bool, err error) {
	whole = true
	seen, descending, since := 0, true, time.Now().Add(-listedFor)
	var last time.Time
	for in, err := range list.Intents(ctx) {
		switch {
		case errors.As(err, new(*api.ItemError)):
			whole = false
			continue
		case err != nil:
			return nil, false, err
		case is(&in):
			return &in, whole, nil
		}
		descending = descending && !in.CreatedAt.IsZero() && (seen == 0 || !in.CreatedAt.After(last))
		last = in.CreatedAt
		if from := last.Add(-listedFor); seen == 0 && from.Before(since) { // also where this machine's clock is ahead
			since = from
		}
		if seen++; descending && seen > 1 && in.CreatedAt.Before(since) {
			return nil, whole, nil
		}
		if seen == mostListed {
			return nil, false, nil
		}
	}
	return nil, whole, nil
}
