package dashboard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// recordings is a recording that only says that it is one.
type recordings struct {
	mu    sync.Mutex
	state RecordingState
	fails error
}

func (r *recordings) State() RecordingState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *recordings) Start() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		return "", r.fails
	}
	r.state = RecordingState{On: true, Since: time.Now()}
	return "recording, from 13:47:05 on: /recordings/r.tillwatch", nil
}

func (r *recordings) End() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = RecordingState{}
	return "recorded 16m0s in 120 kB: tillwatch replay /recordings/r.tillwatch", r.fails
}

func recordingOn(r *recordings) func(*Config) { return func(c *Config) { c.Recording = r } }

func TestARecordingIsStartedAndEndedByOneKeyEach(t *testing.T) {
	for _, size := range []struct{ w, h int }{{200, 55}, {160, 45}, {120, 36}, {80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := boardOf(t, typicalShop(time.Now()), size.w, size.h, recordingOn(&recordings{}))
				if got := screen(m); strings.Contains(got, "rec ") {
					t.Errorf("it is recorded from the start:\n%s", got)
				}
				perform(m, press(m, "ctrl+r"))
				if got := screen(m); !strings.Contains(got, "✓ recording, from 13:47:05 on: /recordings/r") {
					t.Errorf("after ctrl+r:\n%s", got)
				}
				time.Sleep(61 * time.Second)
				m.advance(time.Now())
				m.redraw = true
				if got := screen(m); !strings.HasPrefix(got, " ● rec  1m  staging") {
					t.Errorf("the header does not say that it records:\n%s", got)
				}
				perform(m, press(m, "ctrl+r"))
				if got := screen(m); !strings.Contains(got, "✓ recorded 16m0s in 120 kB: tillwatch replay") || !strings.HasPrefix(got, " tillwatch") {
					t.Errorf("after ctrl+r again:\n%s", got)
				}
			})
		})
	}
}

func TestARecordingThatEndsByItselfIsOnTheScreenUntilAnotherBegins(t *testing.T) {
	r := &recordings{state: RecordingState{Trouble: "recording to r: no space left on \x1b[2Jdevice"}}
	m := boardOf(t, typicalShop(time.Now()), 120, 36, recordingOn(r))
	if got := screen(m); !strings.HasPrefix(got, " ✕ rec      staging") || !strings.Contains(got, "✕ recording to r: no space left on [2Jdevice") {
		t.Errorf("in trouble:\n%s", got)
	}
	perform(m, press(m, "ctrl+r"))
	if got := screen(m); !strings.HasPrefix(got, " ● rec") || strings.Contains(got, "no space left") {
		t.Errorf("started anew:\n%s", got)
	}
}

func TestARecordingThatCannotBeginIsSaid(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36, recordingOn(&recordings{fails: errors.New("read-only file system")}))
	perform(m, press(m, "ctrl+r"))
	if got := screen(m); !strings.Contains(got, "! not recorded: read-only file system") || !strings.HasPrefix(got, " tillwatch") {
		t.Errorf("after ctrl+r:\n%s", got)
	}
	m = boardOf(t, typicalShop(time.Now()), 120, 36)
	press(m, "ctrl+r")
	if got := screen(m); !strings.Contains(got, "nothing can be recorded here") {
		t.Errorf("without a recorder:\n%s", got)
	}
}

// Whoever is told where something was written learns all of the path, and still sees the names of
// the panes.
func TestANoticeThatIsTooLongTakesMoreLines(t *testing.T) {
	const folder = "/home/somebody/.local/state/tillwatch/recordings/"
	for _, c := range []struct {
		width, height int
		path          string
		lines         int
	}{
		{80, 24, "~/.local/state/tillwatch/recordings/simulator-20261123-004248.tillwatch", 2},
		{80, 24, folder + "a-simulator-20261123-004248.tillwatch", 3},
		{120, 36, folder + "a-simulator-20261123-004248.tillwatch", 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), c.width, c.height)
			before := strings.Split(screen(m), "\n")
			m.Update(recordedMsg{said: "recorded 16m0s in 120 kB: tillwatch replay " + c.path})
			after := strings.Split(screen(m), "\n")
			title, said := 1+c.lines, ""
			for _, line := range after[1:title] {
				said += strings.TrimSpace(line)
			}
			if !strings.Contains(said, "recorded 16m0s") || !strings.Contains(said, c.path) {
				t.Errorf("%d columns: the path is cut:\n%s", c.width, strings.Join(after[:5], "\n"))
			}
			if after[title] != before[2] {
				t.Errorf("%d columns: it covers the name of a pane:\n%s", c.width, strings.Join(after[:5], "\n"))
			}
			below := slices.IndexFunc(before, func(line string) bool { return strings.Contains(line, "SHIPMENTS") })
			if !slices.Equal(before[below:], after[below:]) {
				t.Errorf("%d columns: it moves more than the pane below it:\n%s", c.width, strings.Join(after, "\n"))
			}
			time.Sleep(2 * toastFor)
			m.Update(tickMsg{})
			if got := strings.Split(screen(m), "\n"); !strings.HasPrefix(got[2], "▌INTENTS") {
				t.Errorf("%d columns: it stays: %s", c.width, got[2])
			}
		})
	}
}
