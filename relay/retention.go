package relay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"tillwatch/relay/journal"
)

const (
	// pruneInterval is how often the age of events is checked, and sizeInterval how often their size: what arrives in
	// between takes extra room.
	pruneInterval = time.Minute
	sizeInterval  = time.Second

	trustAfter = time.Hour // how long the clock must have run evenly before events are deleted by their age
)

// retention bounds what the journal keeps of old events; their ids stay.
type retention struct {
	age   time.Duration // 0: any
	size  int64         // in bytes; 0: any
	sized journal.Sized
}

func newRetention(cfg Config) (retention, error) {
	kept := retention{age: max(cfg.Retention, 0), size: max(cfg.RetentionSize, 0)}
	sized, can := cfg.Journal.(journal.Sized)
	if kept.size > 0 && !can {
		return kept, errors.New("this journal cannot be limited by size: limit it by age")
	}
	kept.sized = sized
	return kept, nil
}

func (kept retention) wanted() bool { return kept.age > 0 || kept.size > 0 }

// retain prunes the journal at intervals until ctx ends.
func (r *Relay) retain(ctx context.Context) {
	age, size := time.NewTicker(pruneInterval), time.NewTicker(sizeInterval)
	defer age.Stop()
	defer size.Stop()
	var clock steadyClock
	before := time.Now()
	for {
		r.logPruned(ctx, r.pruneToSize)
		select {
		case <-age.C:
			now := time.Now()
			if clock.passed(now.Sub(before), now.Round(0).Sub(before.Round(0))) {
				r.logPruned(ctx, r.pruneOld)
			}
			before = now
		case <-size.C:
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

// logPruned runs prune and logs the outcome.
func (r *Relay) logPruned(ctx context.Context, prune func(context.Context) (int64, error)) {
	removed, err := func() (removed int64, err error) {
		defer journal.Recovered(&err)
		return prune(ctx)
	}()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.logger.Error("could not prune old events", slog.String("error", err.Error()))
	case removed > 0:
		r.logger.Info("old events pruned", slog.Int64("events", removed))
	}
}

func (r *Relay) pruneOld(ctx context.Context) (int64, error) {
	if r.retention.age <= 0 {
		return 0, nil
	}
	return r.journal.Prune(ctx, time.Now().Add(-r.retention.age))
}

// pruneToSize leaves some room for what arrives before the next check.
func (r *Relay) pruneToSize(ctx context.Context) (int64, error) {
	limit, sized := r.retention.size, r.retention.sized
	if limit <= 0 {
		return 0, nil
	}
	size, err := sized.Size(ctx)
	if err != nil || size <= limit-limit/32 {
		return 0, err
	}
	return sized.PruneTo(ctx, limit-limit/16)
}
