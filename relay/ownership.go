package relay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"tillwatch/relay/journal"
)

// ownInterval is how long a journal may be another's before that is noticed while
// nothing is delivered.
const ownInterval = time.Second

// guard asks now and again whether the journal is still this relay's, until ctx
// ends. It returns an error once the journal is another's: this relay has nothing
// to do any more.
func (r *Relay) guard(ctx context.Context, owned journal.Owned) error {
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
