package plain

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"tillwatch/api/account"
)

// Source is the picture to print; [account.Store] is one.
type Source interface {
	// Changes returns what changed after version since; 0 gives everything.
	Changes(since uint64) account.Changes
	// Wait returns nil once there is something newer than since, or the error of ctx.
	Wait(ctx context.Context, since uint64) error
}

// Config configures [Run]. Source is required.
type Config struct {
	Source      Source
	Environment string         // the service's environment, until an answer names it
	Account     string         // may be empty
	Location    *time.Location // for printed times; nil: time.Local
	Gather      time.Duration  // how long changes are gathered: what changes twice meanwhile is printed once; default 200 ms, negative: not at all
}

// Run prints changes to out until ctx ends, which is not an error, or writing fails.
func Run(ctx context.Context, cfg Config, out io.Writer) error {
	if cfg.Location == nil {
		cfg.Location = time.Local
	}
	switch {
	case cfg.Gather == 0:
		cfg.Gather = 200 * time.Millisecond
	case cfg.Gather < 0:
		cfg.Gather = 0
	}
	printer := newPrinter(cfg)
	lines := bufio.NewWriter(out)
	pause := time.NewTimer(cfg.Gather)
	defer pause.Stop()
	for since := uint64(0); ; {
		changes := cfg.Source.Changes(since)
		since = changes.Version
		for _, line := range printer.changes(&changes) {
			fmt.Fprintln(lines, line) // Flush reports its error
		}
		if err := lines.Flush(); err != nil {
			return fmt.Errorf("writing what changed: %w", err)
		}
		pause.Reset(cfg.Gather)
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
		if err := cfg.Source.Wait(ctx, since); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("waiting for changes: %w", err)
		}
	}
}
