package plain

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"tillwatch/api/account"
)

// Config configures [Run]. Source is required.
type Config struct {
	Source      account.Picture
	Environment string         // the service's environment, until an answer names it
	Account     string         // may be empty
	Location    *time.Location // for printed times; nil: time.Local
	Gather      time.Duration  // how long to gather changes: what changes twice meanwhile is printed once; default 200 ms, negative: not at all
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
	return account.Follow(ctx, cfg.Source, cfg.Gather, func(changes account.Changes) error {
		for _, line := range printer.changes(&changes) {
			fmt.Fprintln(lines, line) // Flush reports its error
		}
		if err := lines.Flush(); err != nil {
			return fmt.Errorf("writing what changed: %w", err)
		}
		return nil
	})
}
