//go:build unix

package job

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// followsSize is whether [FollowSize] reports the size, so that the keyboard need not.
const followsSize = true

// FollowSize calls report whenever the size of the terminal behind out differs from the
// last one, until ctx ends.
func FollowSize(ctx context.Context, out any, last tea.WindowSizeMsg, report func(tea.WindowSizeMsg)) {
	if !IsTerminal(out) {
		return
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH, syscall.SIGCONT) // a stopped program gets no SIGWINCH
	defer signal.Stop(resized)
	for {
		if size, ok := SizeOf(out); ok && size != last {
			last = size
			report(size)
		}
		select {
		case <-resized:
		case <-ctx.Done():
			return
		}
	}
}
