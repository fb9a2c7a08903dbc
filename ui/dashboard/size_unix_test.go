//go:build unix

package dashboard

import (
	"context"
	"os"
	"syscall"
	"testing"

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
	told, ended := make(chan sizeMsg), make(chan struct{})
	set(120, 40) // before anybody listens
	go func() {
		defer close(ended)
		followSize(ctx, screen, sizeMsg{80, 24}, func(size sizeMsg) { told <- size })
	}()
	if size := <-told; size != (sizeMsg{120, 40}) {
		t.Errorf("told of %+v", size)
	}
	set(100, 30)
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if size := <-told; size != (sizeMsg{100, 30}) {
		t.Errorf("told of %+v", size)
	}
	cancel()
	<-ended
	if _, known := sizeOf(&link{}); known {
		t.Error("what is no terminal has a size")
	}
}
