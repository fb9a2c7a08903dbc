//go:build unix

package job

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
)

func TestTheSizeOfTheTerminalIsFollowed(t *testing.T) {
	keyboard, screen, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	defer screen.Close()
	set := func(width, height uint16) {
		if err := pty.Setsize(keyboard, &pty.Winsize{Cols: width, Rows: height}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan tea.WindowSizeMsg), make(chan struct{})
	set(120, 40) // before anybody listens
	go func() {
		defer close(ended)
		FollowSize(ctx, screen, tea.WindowSizeMsg{Width: 80, Height: 24}, func(size tea.WindowSizeMsg) { told <- size })
	}()
	if size := <-told; size != (tea.WindowSizeMsg{Width: 120, Height: 40}) {
		t.Errorf("got %+v", size)
	}
	set(100, 30)
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if size := <-told; size != (tea.WindowSizeMsg{Width: 100, Height: 30}) {
		t.Errorf("got %+v", size)
	}
	cancel()
	<-ended
	if _, known := SizeOf(new(strings.Builder)); known {
		t.Error("what is no terminal has a size")
	}
}
