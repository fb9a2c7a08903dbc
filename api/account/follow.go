package account

import (
	"context"
	"fmt"
	"time"

	"tillwatch/api"
)

// Picture is what is known of an account, for those who follow it: a [Store], or a recording that is played.
type Picture interface {
	// Changes returns what changed after version since; 0 returns the whole picture.
	Changes(since uint64) Changes
	// Wait returns nil once the picture is newer than since, or ctx's error.
	Wait(ctx context.Context, since uint64) error
	// Intent returns all that is known of one intent.
	Intent(id api.ID) (*IntentDetail, bool)
}

// Follow calls take with the whole picture and then with its changes, until ctx ends, which is no error, or take
// fails. After each call it gathers further changes for a while.
func Follow(ctx context.Context, p Picture, gather time.Duration, take func(Changes) error) error {
	for since := uint64(0); ; {
		c := p.Changes(since)
		since = c.Version
		if err := take(c); err != nil {
			return err
		}
		if api.Sleep(ctx, gather) != nil {
			return nil
		}
		if err := p.Wait(ctx, since); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("waiting for changes: %w", err)
		}
	}
}
