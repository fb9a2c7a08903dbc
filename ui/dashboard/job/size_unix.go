//go:build unix

package job

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// FollowSize reports the size of the terminal behind out whenever it is not the last
// one any more, until ctx ends.
func FollowSize(ctx context.Context, out any, last tea.WindowSizeMsg, report func(tea.WindowSizeMsg)) {
	if !IsTerminal(out) {
		return
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH, syscall.SIGCONT) // a stopped program does not hear of a new size
	defer signal.Stop(resized)
	for {
		if size, known := SizeOf(out); known && size != last {
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
