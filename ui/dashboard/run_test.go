package dashboard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"tillwatch/api"
	"tillwatch/api/account"
)

// terminal is the output of a program, and says when a text has come.
type terminal struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func newTerminal() *terminal { return &terminal{more: make(chan struct{}, 1)} }

func (w *terminal) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
	return w.buf.Write(p)
}

func (w *terminal) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func (w *terminal) await(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(w.String(), text) {
		select {
		case <-w.more:
		case <-deadline:
			t.Fatalf("the terminal never shows %q", text)
		}
	}
}

func TestRunEndsWithTheUserOrTheContextAndRestoresTheTerminal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cases := []struct {
		name string
		end  func(keys io.Writer, cancel func())
	}{
		{"q", func(keys io.Writer, _ func()) { _, _ = io.WriteString(keys, "q") }},
		{"ctrl+c", func(keys io.Writer, _ func()) { _, _ = io.WriteString(keys, "\x03") }},
		{"ctrl+c on a Russian keyboard", func(keys io.Writer, _ func()) { _, _ = io.WriteString(keys, "\x1b[1089::99;5u") }},
		{"ctrl+c on a Dvorak keyboard", func(keys io.Writer, _ func()) { _, _ = io.WriteString(keys, "\x1b[99::105;5u") }},
		{"q on a Russian keyboard", func(keys io.Writer, _ func()) { _, _ = io.WriteString(keys, "\x1b[1081::113;;1081u") }},
		{"q on a Russian keyboard that reports no place at first", func(keys io.Writer, _ func()) { _, _ = io.WriteString(keys, "й\x1b[1081::113u") }},
		{"q on a Greek keyboard, a semicolon there", func(keys io.Writer, _ func()) { _, _ = io.WriteString(keys, "ξ\x1b[59::113;;59u") }},
		{"the context", func(_ io.Writer, cancel func()) { cancel() }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in, keys := io.Pipe()
			defer keys.Close()
			out := newTerminal()
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, Config{Source: typicalShop(time.Now()), NoColor: true}, in, out) }()
			out.await(t, "\x1b[?1049h")
			c.end(keys, cancel)
			if err := <-ended; err != nil {
				t.Errorf("Run = %v", err)
			}
			got := out.String()
			if !strings.Contains(got, "\x1b[>5u") {
				t.Error("the terminal is not asked for the places of keys")
			}
			if !strings.Contains(got, "\x1b[?1049l") || !strings.Contains(got, "\x1b[?25h") {
				t.Error("the terminal is left in the other screen or without its cursor")
			}
		})
	}
}

func TestThePumpGathersChangesForAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan account.Changes, 100)
		ended := make(chan error, 1)
		go func() { ended <- pump(ctx, s, func(c account.Changes) { got <- c }) }()
		synctest.Wait()
		for range 20 {
			s.touch(func() { s.intent(1, api.Completed, 0) })
		}
		time.Sleep(frame)
		synctest.Wait()
		if n := len(got); n != 2 {
			t.Errorf("%d messages for a first picture and 20 changes within a frame, want 2", n)
		}
		<-got
		if c := <-got; c.Version != 20 {
			t.Errorf("version %d, want all 20 changes", c.Version)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("pump = %v", err)
		}
	})
}

type brokenSource struct{ *shop }

func (brokenSource) Wait(context.Context, uint64) error { return errors.New("store closed") }

func TestABrokenSourceEndsTheDashboardWithItsError(t *testing.T) {
	in, keys := io.Pipe()
	defer keys.Close()
	err := Run(t.Context(), Config{Source: brokenSource{newShop(time.Now())}, NoColor: true}, in, newTerminal())
	if err == nil || !strings.Contains(err.Error(), "store closed") {
		t.Errorf("Run = %v, want the error of the source", err)
	}
}

type panickingSource struct{ *shop }

func (panickingSource) Changes(uint64) account.Changes { panic("torn") }

func TestAPanicOfTheSourceIsAnError(t *testing.T) {
	err := pump(t.Context(), panickingSource{newShop(time.Now())}, func(account.Changes) {})
	if err == nil || !strings.Contains(err.Error(), "torn") {
		t.Errorf("pump = %v", err)
	}
}
