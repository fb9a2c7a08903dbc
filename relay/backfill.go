package relay

import (
	"cmp"
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
	// backfillPause is the least time between comparisons, however often there is doubt: each costs quota.
	backfillPause = 30 * time.Second
	// backfillRetry is the pause while the journal cannot be written.
	backfillRetry = 5 * time.Second
	// backfillKnown is how many consecutive known events, from the newest on, end a comparison: older ones were
	// compared before.
	backfillKnown = 500
	// orderSlack is how much newer than its first event any event of a newest-first list may be.
	orderSlack = time.Minute
	// backfillBatch bounds the events of an append.
	backfillBatch = 100
)

// EventList lists the service's events. [api.Client] is one; a
// service without such a list yields [api.ErrNotServed].
type EventList interface {
	Events(ctx context.Context) iter.Seq2[api.Event, error]
}

// backfill appends events that the service lists and no delivery has brought.
type backfill struct {
	relay *Relay
	list  EventList
	doubt chan struct{} // capacity 1: deliveries may have been refused
}

func newBackfill(r *Relay, list EventList) *backfill {
	return &backfill{relay: r, list: list, doubt: make(chan struct{}, 1)}
}

// suspect asks for a comparison as soon as the journal can be written.
func (b *backfill) suspect() {
	select {
	case b.doubt <- struct{}{}:
	default:
	}
}

// run compares at once, then at intervals, after doubt and after this machine has slept, until ctx ends or the
// service turns out to have no list.
func (b *backfill) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(quota.WithPriority(ctx, quota.Reconcile))
	var clock sync.WaitGroup
	clock.Go(func() { watchClock(ctx, b.doubt) })
	defer clock.Wait()
	defer cancel()
	ticker := time.NewTicker(backfillInterval)
	defer ticker.Stop()
	whole := true // the first comparison goes through the whole list
	for {
		if err := b.awaitReady(ctx); err != nil {
			return
		}
		select {
		case <-b.doubt: // this comparison settles it
		default:
		}
		pause := time.After(backfillPause)
		added, err := b.compare(ctx, whole)
		log := b.relay.logger
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
		case <-ticker.C:
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

// awaitReady waits until the journal can be written. It returns an error if ctx ends first.
func (b *backfill) awaitReady(ctx context.Context) error {
	return untilDone(ctx, backfillRetry, func() error { return b.check(ctx) }, func(error) {}) // /readyz reports it
}

func (b *backfill) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return b.relay.journal.Check(ctx)
}

// compare reads the list, appends what the journal lacks, and returns how many events that were. Of an incomplete list
// it takes what there is.
func (b *backfill) compare(ctx context.Context, whole bool) (added int, err error) {
	defer journal.Recovered(&err)
	var missing []journal.Entry
	var first time.Time
	known, newestFirst := 0, true
	for event, err := range b.list.Events(ctx) {
		var unreadable *api.ItemError
		if errors.As(err, &unreadable) {
			continue
		}
		if errors.Is(err, api.ErrIncomplete) {
			added, failed := b.add(ctx, missing)
			return added, cmp.Or(failed, err)
		}
		if err != nil {
			return 0, err
		}
		if first.IsZero() {
			first = event.CreatedAt
		}
		newestFirst = newestFirst && event.CreatedAt.Sub(first) < orderSlack
		if b.pruned(event, first) {
			if newestFirst {
				break
			}
			continue
		}
		exact, err := readDelivery(event.Raw)
		if err != nil || event.Type == api.VerificationChallenge {
			continue
		}
		_, found, err := b.relay.journal.Find(ctx, exact.id)
		if err != nil {
			return 0, err
		}
		if !found {
			missing = append(missing, journal.Entry{
				ID: exact.id, Type: exact.kind, CreatedAt: boundedTime(event.CreatedAt), Origin: journal.Backfill, Body: event.Raw,
			})
			known = 0
			continue
		}
		if known++; known >= backfillKnown && newestFirst && !whole {
			break
		}
	}
	return b.add(ctx, missing)
}

// pruned reports whether the journal would already have pruned an event of this age: both by this machine's clock,
// which may be ahead, and beside the first event of the list.
func (b *backfill) pruned(event api.Event, first time.Time) bool {
	age := b.relay.retention
	return age > 0 && !event.CreatedAt.IsZero() && min(time.Since(event.CreatedAt), first.Sub(event.CreatedAt)) > age
}

// add appends missing events, the oldest first. If a delivery brings one as well, the journal keeps the first: the
// delivery counts as a repetition and, though its bytes differ, not as a conflict.
func (b *backfill) add(ctx context.Context, missing []journal.Entry) (added int, err error) {
	slices.Reverse(missing)
	for batch := range slices.Chunk(missing, backfillBatch) {
		for i := range batch {
			batch[i].Received = time.Now().UTC()
		}
		results, err := b.relay.journal.Append(ctx, batch)
		if err != nil {
			return added, err
		}
		for _, result := range results {
			if !result.Duplicate {
				added++
				b.relay.metrics.backfilled.Inc()
			}
		}
	}
	return added, nil
}
