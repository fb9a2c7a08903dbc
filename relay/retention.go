package relay

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const pruneInterval = 10 * time.Minute

// retain prunes the journal now and again until ctx ends.
func (r *Relay) retain(ctx context.Context) {
	ticker := time.NewTicker(pruneInterval)
	defer ticker.Stop()
	for {
		removed, err := r.prune(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.logger.Error("old events could not be pruned", slog.String("error", err.Error()))
		case removed > 0:
			r.logger.Info("old events pruned", slog.Int64("events", removed))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *Relay) prune(ctx context.Context) (removed int64, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return r.journal.Prune(ctx, time.Now().Add(-r.retention))
}
