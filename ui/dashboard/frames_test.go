package dashboard

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
	"tillwatch/themes"
)

// frames counts what is written, and when the last of it was.
type frames struct {
	mu      sync.Mutex
	written int
	last    time.Time
}

func (f *frames) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written, f.last = f.written+1, time.Now()
	return len(p), nil
}

func (f *frames) seen() (written int, last time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written, f.last
}

// shopUnderWay is an account in which something changes again and again, until ctx
// ends.
func shopUnderWay(ctx context.Context, every time.Duration) *shop {
	s := typicalShop(time.Now())
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			select {
			case <-time.After(every):
			case <-ctx.Done():
			}
			s.touch(func() {
				in := *s.changes.Intents[4]
				total := *in.Total
				total.Subunits = int64(1000 + i)
				in.Total = &total
				s.changes.Summary.Events.Received++
				s.put(&in)
			})
		}
	}()
	return s
}

// Of a hundred events a second a person can read ten at most; a key waits for none
// of them.
func TestDataIsDrawnTenTimesASecondAndAKeyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := shopUnderWay(ctx, 10*time.Millisecond)
		m := New(Config{Source: s, Environ: []string{"TERM=xterm-256color"}, Width: 200, Height: 60})
		m.ctx = ctx
		out := &frames{}
		program := m.program(NewScreen(nil, out))
		enter(t, m.canvas)
		var runs sync.WaitGroup
		runs.Go(func() { _, _ = program.Run() })
		runs.Go(func() { _ = pump(ctx, s, func(c account.Changes) { program.Send(changesMsg{c}) }) })
		time.Sleep(time.Second) // of the bubble's clock, as all of the times here

		const seconds = 10
		before, _ := out.seen()
		time.Sleep(seconds * time.Second)
		after, _ := out.seen()
		// Ten and the clock's; a span may both begin and end with one of each.
		if n := after - before; n > seconds*(10+1)+2 {
			t.Errorf("%d frames in %d seconds", n, seconds)
		} else if n < seconds*8 {
			t.Errorf("only %d frames in %d seconds: what changes is not shown", n, seconds)
		}
		for i := range 50 {
			time.Sleep(time.Duration(53+i) * time.Millisecond)
			before, _ := out.seen()
			pressed := time.Now()
			program.Send(tea.KeyPressMsg{Code: tea.KeyTab})
			synctest.Wait()
			if written, last := out.seen(); written == before || !last.Equal(pressed) {
				t.Fatalf("key %d is not drawn at once", i)
			}
		}
		cancel()
		runs.Wait()
	})
}

// Two dashboards in one process, as of a server of terminals: each has its own
// reader, writer, size and environment.
func TestTwoDashboardsRunBesideEachOther(t *testing.T) {
	type far struct {
		out    *terminal
		keys   *io.PipeWriter
		ended  chan error
		width  int
		colour bool
	}
	dark, err := themes.Find("dark")
	if err != nil {
		t.Fatal(err)
	}
	open := func(width int, environ ...string) *far {
		in, keys := io.Pipe()
		f := &far{out: newTerminal(), keys: keys, ended: make(chan error, 1), width: width, colour: len(environ) > 1}
		cfg := Config{Source: typicalShop(time.Now()), Theme: dark, Environ: environ, Width: width, Height: 30}
		go func() { f.ended <- Run(t.Context(), cfg, in, f.out) }()
		f.out.await(t, "INTENTS")
		return f
	}
	both := []*far{open(120, "TERM=xterm-256color", "COLORTERM=truecolor"), open(80, "TERM=vt100")}
	for _, f := range both {
		got := f.out.String()
		if colour := strings.Contains(got, "\x1b[38;2;"); colour != f.colour {
			t.Errorf("the one that is %d wide is drawn in colour: %t", f.width, colour)
		}
		for _, step := range []struct{ key, shown string }{{"\x1a", "no shell here"}, {"?", "Help"}} { // neither is stopped
			if _, err := io.WriteString(f.keys, step.key); err != nil {
				t.Fatal(err)
			}
			f.out.await(t, step.shown)
		}
	}
	for _, f := range both {
		if _, err := io.WriteString(f.keys, "\x03"); err != nil {
			t.Fatal(err)
		}
		if err := <-f.ended; err != nil {
			t.Errorf("Run = %v", err)
		}
		f.keys.Close()
	}
}

// broken is an account of which a part cannot be drawn.
type broken struct{ *shop }

func (b broken) Changes(since uint64) account.Changes {
	c := b.shop.Changes(since)
	c.Intents = append(c.Intents[:len(c.Intents):len(c.Intents)], nil)
	return c
}

func TestATerminalIsGivenBackBeforeAPanicIsPrinted(t *testing.T) {
	in, keys := io.Pipe()
	defer keys.Close()
	out := newTerminal()
	err := Run(t.Context(), Config{Source: broken{typicalShop(time.Now())}, Width: 80, Height: 24}, in, out)
	if err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("Run = %v, want that it panicked", err)
	}
	if !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Error("the terminal stays on its other screen")
	}
}
