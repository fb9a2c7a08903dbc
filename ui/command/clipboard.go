package command

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// copiesWithin is how long tmux may take to copy a text.
const copiesWithin = 2 * time.Second

// clipboard copies texts with tmux, if that is around: it ignores the sequence by which a program
// asks a terminal to copy, unless it is configured not to. Nil: there is no tmux.
func clipboard(getenv func(string) string, environ []string) func(ctx context.Context, text string) error {
	if getenv("TMUX") == "" {
		return nil
	}
	return func(ctx context.Context, text string) error {
		ctx, cancel := context.WithTimeout(ctx, copiesWithin)
		defer cancel()
		tmux := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-") // -w: and into the terminal's clipboard
		tmux.Env, tmux.Stdin, tmux.WaitDelay = environ, strings.NewReader(text), copiesWithin/2
		if err := tmux.Run(); err != nil {
			return fmt.Errorf("copying with tmux: %w", err)
		}
		return nil
	}
}
