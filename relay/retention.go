package relay

import (
	"context"
	"log/slog"
	"time"

	"tillwatch/relay/journal"
)

// pruneInterval is how often the age of events is checked.
const pruneInterval = time.Minute

// retain deletes what is too old at intervals until ctx ends. The ids of what it deletes stay.
func (r *Relay) retain(ctx context.Context) {
	tick := time.NewTicker(pruneInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.prune(ctx)
		case <-ctx.Done():
			return
		}
	}
}

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
