package relay

import (
	"context"
	"log/slog"
	"time"

	"tillwatch/relay/journal"
)

const (
	pruneInterval = time.Minute // how often the age of events is checked

	trustAfter = time.Hour // how long the clock must have run evenly before events are deleted by their age
)

// retain prunes the journal at intervals until ctx ends. The ids of what it prunes stay.
func (r *Relay) retain(ctx context.Context) {
	tick := time.NewTicker(pruneInterval)
	defer tick.Stop()
	var clock steadyClock
	before := time.Now()
	for {
		select {
		case <-tick.C:
			now := time.Now()
			if clock.passed(now.Sub(before), now.Round(0).Sub(before.Round(0))) {
				r.prune(ctx)
			}
			before = now
		case <-ctx.Done():
			return
		}
	}
}

// steadyClock decides whether events may be deleted by the wall clock: one that has just
// been set, as at a start or after a fault, could make all events old.
type steadyClock struct{ ran time.Duration }

// passed takes in how much time has passed on both clocks.
func (c *steadyClock) passed(monotonic, wall time.Duration) (steady bool) {
	if (wall - monotonic).Abs() > clockSlack {
		c.ran = 0
		return false
	}
	c.ran += monotonic
	return c.ran >= trustAfter
}

// prune deletes what is too old, and logs the outcome.
func (r *Relay) prune(ctx context.Context) {
	removed, err := func() (removed int64, err error) {
		defer journal.Recovered(&err)
		return r.journal.Prune(ctx, time.Now().Add(-r.retention))
	}()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.logger.Error("could not prune old events", slog.String("error", err.Error()))
	case removed > 0:
		r.logger.Info("old events pruned", slog.Int64("events", removed))
	}
}
