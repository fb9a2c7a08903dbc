package relay

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay/journal"
)

const (
	backfillInterval = 10 * time.Minute
	backfillPause    = 30 * time.Second // the least time between comparisons: each costs quota
	backfillRetry    = 5 * time.Second  // the pause while the journal cannot be written
	backfillKnown    = 500              // known events in a row, from the newest on, that end a comparison
	backfillBatch    = 100              // events of an append
	orderSlack       = time.Minute      // how much newer than its first event any event of a newest-first list may be
)

// EventList lists the service's events. [api.Client] is one; a service without such a list yields [api.ErrNotServed].
type EventList interface {
	Events(ctx context.Context) iter.Seq2[api.Event, error]
}

// backfill appends events that the service lists and no delivery has brought.
type backfill struct {
	relay *Relay
	list  EventList
	doubt chan struct{} // capacity 1: deliveries may have been refused
}

// suspect asks for a comparison as soon as the journal can be written.
func (b *backfill) suspect() {
	select {
	case b.doubt <- struct{}{}:
	default:
	}
}

// run compares at once, then at intervals, after doubt and after this machine has slept, until ctx ends or the service
// turns out to have no list.
func (b *backfill) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(quota.WithPriority(ctx, quota.Reconcile))
	var clock sync.WaitGroup
	clock.Go(func() { watchClock(ctx, b.doubt) })
	defer clock.Wait()
	defer cancel()
	log := b.relay.logger
	for whole := true; ; { // the first comparison goes through the whole list
		if untilDone(ctx, backfillRetry, func() error { return b.relay.checkJournal(ctx) }, func(error) {}) != nil {
			return // /readyz has reported it
		}
		select {
		case <-b.doubt: // this comparison settles it
		default:
		}
		pause, next := time.After(backfillPause), time.After(backfillInterval)
		added, err := b.compare(ctx, whole)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, api.ErrNotServed):
			log.Debug("the service has no list of events: events that it does not deliver cannot be found")
			return
		case err != nil:
			log.Warn("the service's list of events could not be compared with the journal", slog.String("error", err.Error()))
			whole = whole || errors.Is(err, api.ErrIncomplete) // what was added hides what is older
		default:
			whole = false
		}
		if added > 0 {
			log.Info("added events that were never delivered", slog.Int("events", added))
		}
		select {
		case <-next:
		case <-b.doubt:
			select {
			case <-pause:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// compare reads the list, appends what the journal lacks, and returns how many events that were. Of an incomplete list
// it takes what there is.
func (b *backfill) compare(ctx context.Context, whole bool) (added int, err error) {
	defer journal.Recovered(&err)
	missing, failed := b.missing(ctx, whole)
	if failed != nil && !errors.Is(failed, api.ErrIncomplete) {
		return 0, failed
	}
	slices.Reverse(missing) // the oldest first
	for batch := range slices.Chunk(missing, backfillBatch) {
		for i := range batch {
			batch[i].Received = time.Now()
		}
		results, err := b.relay.journal.Append(ctx, batch)
		if err != nil {
			return added, err
		}
		for _, result := range results {
			if !result.Duplicate { // else a delivery has brought it meanwhile
				added++
				b.relay.metrics.backfilled.Inc()
			}
		}
	}
	return added, failed
}

// missing returns the listed events that the journal does not know, in the order of the list.
func (b *backfill) missing(ctx context.Context, whole bool) (missing []journal.Entry, err error) {
	var first time.Time
	known, newestFirst := 0, true
	for event, err := range b.list.Events(ctx) {
		var unreadable *api.ItemError
		switch {
		case errors.As(err, &unreadable):
			continue
		case err != nil:
			return missing, err
		case first.IsZero():
			first = event.CreatedAt
		}
		newestFirst = newestFirst && event.CreatedAt.Sub(first) < orderSlack
		if newestFirst && b.pruned(event, first) {
			break
		}
		exact, err := readDelivery(event.Raw)
		if err != nil || event.Type == api.VerificationChallenge || b.pruned(event, first) {
			continue
		}
		_, found, err := b.relay.journal.Find(ctx, exact.id)
		if err != nil {
			return nil, err
		}
		if known++; !found {
			known = 0
			missing = append(missing, journal.Entry{ID: exact.id, Type: exact.kind, CreatedAt: boundedTime(event.CreatedAt),
				Origin: journal.Backfill, Body: event.Raw})
		}
		if known >= backfillKnown && newestFirst && !whole {
			break
		}
	}
	return missing, nil
}

// pruned reports whether the journal would already have pruned an event of this age: both by this machine's clock,
// which may be ahead, and beside the first event of the list.
func (b *backfill) pruned(event api.Event, first time.Time) bool {
	age := b.relay.retention
	return age > 0 && !event.CreatedAt.IsZero() && min(time.Since(event.CreatedAt), first.Sub(event.CreatedAt)) > age
}
