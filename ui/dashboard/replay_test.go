package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/recording"
)

const day = "../recording/testdata/day.tillwatch"

// replayOf is a board that stands at a moment of the recorded day, in a bubble of
// time. feed brings what has changed since to the board.
func replayOf(t testing.TB, from time.Duration, width, height int) (m *Model, p *recording.Player, feed func()) {
	t.Helper()
	p, err := recording.OpenPlayer(day, recording.PlayerConfig{Paused: true, From: from})
	if err != nil {
		t.Fatal(err)
	}
	theme, err := themes.Find("dark")
	if err != nil {
		t.Fatal(err)
	}
	h := p.Header()
	m = New(Config{Source: p, Transport: p, Now: p.Now, Environment: h.Environment, Account: h.Account, Theme: theme, Location: time.UTC})
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	var since uint64
	feed = func() {
		c := p.Changes(since)
		since = c.Version
		m.Update(changesMsg{c})
	}
	feed()
	return m, p, feed
}

func TestTheRecordedDayLooksAsItShould(t *testing.T) {
	for _, c := range []struct {
		name string
		at   time.Duration
		keys []string
	}{
		{"the first picture", 0, nil},
		{"an hour in", time.Hour, nil},
		{"the relay is lost", 3*time.Hour + 5*time.Minute, nil},
		{"the detail of a failure", 4 * time.Hour, []string{"l", "l", "l", "l", "enter"}},
		{"the end", 24 * time.Hour, []string{"6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _, _ := replayOf(t, c.at, 120, 36)
				press(m, c.keys...)
				golden.RequireEqual(t, screen(m))
			})
		})
	}
}

func TestAReplayStandsAtTheRecordedMomentWheneverItIsShown(t *testing.T) {
	shots := map[string]bool{}
	for _, later := range []time.Duration{0, 1000 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(later) // the clock of the bubble
			m, _, _ := replayOf(t, time.Hour, 120, 36)
			m.Update(tickMsg{})
			shots[screen(m)] = true
		})
	}
	if len(shots) != 1 {
		t.Error("what is shown depends on when it is shown")
	}
}

func TestGoingThereAndBackShowsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p, feed := replayOf(t, 2*time.Hour, 120, 36)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		press(m, "l", "l", "j")
		at := p.Position().At
		press(m, "g", "j") // what is scrolled away is not remembered
		under, before := m.board.subject(), screen(m)
		for _, to := range []time.Duration{7 * time.Hour, at, time.Hour, 0, at} {
			p.Seek(to)
			synctest.Wait()
			feed()
			m.View()
			if got := m.board.subject(); to >= at && under != (pane.Subject{}) && got != under {
				t.Errorf("at %v the cursor is on %v, and was on %v", to, got, under)
			}
			if to < at {
				under = m.board.subject() // what it was on is not there yet, or nothing is
			}
		}
		press(m, "g", "j")
		if after := screen(m); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// tape is a transport that notes what it is asked for.
type tape struct {
	asked    []string
	position recording.Position
}

func (f *tape) note(format string, values ...any) {
	f.asked = append(f.asked, fmt.Sprintf(format, values...))
}
func (f *tape) Position() recording.Position { return f.position }
func (f *tape) Pause()                       { f.note("pause") }
func (f *tape) Step(by int)                  { f.note("step %d", by) }
func (f *tape) Seek(to time.Duration)        { f.note("seek %v", to) }
func (f *tape) SeekBy(by time.Duration)      { f.note("by %v", by) }
func (f *tape) ChangeSpeed(by int)           { f.note("speed %d", by) }

func onTape(t *testing.T, width, height int) (*Model, *tape) {
	f := &tape{position: recording.Position{At: time.Minute, Length: 2 * time.Minute, Speed: 10, Paused: true, Change: 3, Changes: 9}}
	s := typicalShop(time.Now())
	return boardOf(t, s, width, height, func(c *Config) { c.Transport, c.Refresh = f, nil }), f
}

func TestEachKeyOfTheTransportDoesWhatItSays(t *testing.T) {
	keys := map[action.ID]struct{ key, asked string }{
		action.Pause: {"space", "pause"}, action.StepForward: {".", "step 1"}, action.StepBack: {",", "step -1"},
		action.SeekBack: {"[", "by -10s"}, action.SeekForward: {"]", "by 10s"}, action.SeekFarBack: {"{", "by -1m0s"}, action.SeekFarForward: {"}", "by 1m0s"},
		action.SeekStart: {"home", "seek 0s"}, action.SeekEnd: {"end", "seek 2m0s"},
		action.Slower: {"<", "speed -1"}, action.Faster: {">", "speed 1"},
	}
	for _, a := range action.Replay().Actions() {
		if a.Group != action.Time {
			continue
		}
		want, ok := keys[a.ID]
		if !ok {
			t.Errorf("%s has no case here", a.ID)
			continue
		}
		m, f := onTape(t, 120, 36)
		m.Update(actiontest.Press(want.key))
		if len(f.asked) != 1 || f.asked[0] != want.asked {
			t.Errorf("%s asks for %v, want %s", want.key, f.asked, want.asked)
		}
	}
}

func TestInAReplayNothingCanAct(t *testing.T) {
	for _, a := range action.Replay().Actions() {
		if a.Dangerous {
			t.Errorf("%s spends money", a.ID)
		}
	}
	for _, id := range []action.ID{action.Confirm, action.ConfirmMarked, action.Mark, action.Unmark, action.StopBatch, action.Refresh, action.Freeze, action.Reveal} {
		if a, ok := action.Replay().Action(id); ok {
			t.Errorf("%s is there", a.ID)
		}
	}
	m, _ := onTape(t, 120, 36)
	press(m, "1", "c", "x", "X", "r", "U", "K")
	if m.dialog.open() || len(m.marks.set) > 0 || m.batch.queue != nil {
		t.Error("a key of the live dashboard acts")
	}
	shown := screen(m)
	if !strings.Contains(shown, "REPLAY") || strings.Contains(shown, "READ-ONLY") || strings.Contains(shown, "confirm —") {
		t.Errorf("the screen says\n%s", shown)
	}
}

func TestAKeyThatDoesNothingInARecordingSaysSo(t *testing.T) {
	replayed, tried := action.Replay(), 0
	for _, scope := range []action.Scope{action.Board, action.Detail} {
		m, f := onTape(t, 160, 45)
		if press(m, "1"); scope == action.Detail {
			press(m, "enter")
		}
		for _, a := range action.Default().Actions() {
			key := actiontest.Press(a.Keys[0])
			if _, taken := replayed.Lookup(scope, key); taken || scope == action.Board && a.Scope == action.Detail {
				continue
			}
			if _, taken := replayed.Lookup(action.Board, key); taken {
				continue // the board stands beside the detail
			}
			tried++
			before := len(f.asked)
			m.Update(key)
			if said := m.notices.toast.text; said != strconv.Quote(a.Title)+" does nothing here: this is a recording" || m.dialog.open() || len(f.asked) > before {
				t.Errorf("%s on the %s says %q", a.Keys[0], scope, said)
			}
			m.notices.toast = toast{}
		}
	}
	if tried < 20 {
		t.Errorf("only %d keys were tried", tried)
	}
}

func TestAViewOrDetailOfAReplayNamesTheKeyThatLeavesIt(t *testing.T) {
	for _, size := range everySize {
		for _, key := range []string{"P", "u", "F", "z", "enter"} {
			m, _ := onTape(t, size[0], size[1])
			if press(m, key); !strings.Contains(screen(m), "esc close") || strings.Contains(screen(m), "esc back") {
				t.Errorf("%s, %v:\n%s", key, size, screen(m))
			}
			if press(m, "esc"); strings.Contains(screen(m), "esc close") {
				t.Errorf("%s, %v: it stays after esc:\n%s", key, size, screen(m))
			}
		}
	}
}

func TestTheMouseGoesToWhereItPointsOnTheScrubber(t *testing.T) {
	m, f := onTape(t, 80, 24)
	scrubber := []rune(strings.Split(screen(m), "\n")[23])
	isTrack := func(r rune) bool { return strings.ContainsRune("┃━─", r) }
	from, last := slices.IndexFunc(scrubber, isTrack), len(scrubber)-1
	for !isTrack(scrubber[last]) {
		last--
	}
	for x, want := range map[int]string{0: "seek 0s", from: "seek 0s", last: "seek 2m0s", 79: "seek 2m0s"} {
		f.asked = nil
		m.Update(tea.MouseClickMsg{X: x, Y: 23, Button: tea.MouseLeft})
		if len(f.asked) != 1 || f.asked[0] != want {
			t.Errorf("a click at %d asks for %v, want %s", x, f.asked, want)
		}
	}
	f.asked = nil
	m.Update(tea.MouseMotionMsg{X: last, Y: 23, Button: tea.MouseLeft})
	m.Update(tea.MouseWheelMsg{X: 5, Y: 23, Button: tea.MouseWheelDown})
	if got := strings.Join(f.asked, ", "); got != "seek 2m0s, by -10s" {
		t.Errorf("dragging and the wheel ask for %s", got)
	}
	f.asked = nil
	m.Update(tea.MouseClickMsg{X: 0, Y: 22, Button: tea.MouseLeft})
	if len(f.asked) > 0 {
		t.Errorf("a click on the footer beside its hints asks for %v", f.asked)
	}
	clickOn(t, m, "space play") // the tape stands
	if got := strings.Join(f.asked, ", "); got != "pause" {
		t.Errorf("a click on the footer's hint asks for %q", got)
	}
}
