package command

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"tillwatch/ui/dashboard"
	group "tillwatch/ui/process"
)

// browser opens links with the system's own program, unless the user could not see the page.
func browser(system string, getenv func(string) string, noOpen bool) dashboard.Browser {
	here := func(names ...string) bool {
		for _, name := range names {
			if getenv(name) != "" {
				return true
			}
		}
		return false
	}
	program := []string{"xdg-open"}
	switch system {
	case "darwin":
		program = []string{"open"}
	case "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	switch {
	case noOpen:
		return dashboard.Browser{Closed: "opening links is switched off (no_open)"}
	case here("SSH_CONNECTION", "SSH_TTY"):
		return dashboard.Browser{Closed: "this is a session over SSH"}
	case program[0] == "xdg-open" && !here("DISPLAY", "WAYLAND_DISPLAY"):
		return dashboard.Browser{Closed: "there is no display here"}
	}
	return dashboard.Browser{Open: func(ctx context.Context, address string) error {
		// It may outlive this process, and could draw on the dashboard without a session of its own.
		command := exec.CommandContext(context.Background(), program[0], append(program[1:], address)...)
		group.Apart(command, time.Second)
		if err := command.Start(); errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("there is no program %s", program[0])
		} else if err != nil {
			return fmt.Errorf("starting %s: %w", program[0], err)
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		select {
		case <-ctx.Done():
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("%s: %w", program[0], err)
			}
		}
		return nil
	}}
}

// copiesWithin is how long tmux may take to copy a text.
const copiesWithin = 2 * time.Second

// clipboard copies texts with tmux, if that is around: it ignores the sequence by which a program asks a terminal to
// copy, unless it is configured not to. Nil: there is no tmux.
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
