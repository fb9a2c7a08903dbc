package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"tillwatch/relay/journal"
)

const pruneInterval = time.Minute

// retention bounds what the journal keeps of old events: their ids stay.
type retention struct {
	age   time.Duration // 0: any
	size  int64         // in bytes; 0: any
	sized journal.Sized
}

func newRetention(cfg Config) (retention, error) {
	kept := retention{age: max(cfg.Retention, 0), size: max(cfg.RetentionSize, 0)}
	sized, can := cfg.Journal.(journal.Sized)
	if kept.size > 0 && !can {
		return kept, errors.New("this journal cannot be kept to a size: bound it by age")
	}
	kept.sized = sized
	return kept, nil
}

func (kept retention) wanted() bool { return kept.age > 0 || kept.size > 0 }

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
	if r.retention.age > 0 {
		if removed, err = r.journal.Prune(ctx, time.Now().Add(-r.retention.age)); err != nil {
			return removed, err
		}
	}
	if r.retention.size > 0 {
		var more int64
		more, err = r.retention.sized.PruneTo(ctx, r.retention.size)
		removed += more
	}
	return removed, err
}
