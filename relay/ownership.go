package relay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"tillwatch/relay/journal"
)

// ownInterval is how long it may take to notice, without deliveries, that another relay owns the journal.
const ownInterval = time.Second

// watchOwnership checks at intervals that this relay still owns the journal, until ctx ends. It returns an error once
// another one does: then this relay has nothing left to do.
func (r *Relay) watchOwnership(ctx context.Context, owned journal.Owned) error {
	ticker := time.NewTicker(ownInterval)
	defer ticker.Stop()
	said := ""
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		asking, cancel := context.WithTimeout(ctx, checkTimeout)
		err := owned.Owns(asking)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, journal.ErrDisowned):
			return err
		case err == nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			r.logger.Error("the journal cannot be used", slog.String("error", said))
		}
	}
}
