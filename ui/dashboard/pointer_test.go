package dashboard

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
)

// placeOf is where the screen first shows a text.
func placeOf(t *testing.T, m *Model, text string) (x, y int) {
	t.Helper()
	for y, line := range strings.Split(screen(m), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			return paint.Width(before), y
		}
	}
	t.Fatalf("%q is not on the screen:\n%s", text, screen(m))
	return 0, 0
}

func clickAt(m *Model, x, y int) tea.Cmd {
	_, cmd := m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	m.Update(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
	m.View()
	return cmd
}

// clickOn clicks on the first cell of a text.
func clickOn(t *testing.T, m *Model, text string) tea.Cmd {
	t.Helper()
	x, y := placeOf(t, m, text)
	return clickAt(m, x, y)
}

func TestTabsTakeClicks(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
		m := boardOf(t, typicalShop(time.Now()), size[0], size[1])
		for _, c := range []struct {
			tab  string
			want layout.Pane
		}{{"REQUESTS", layout.Requests}, {"ALERTS 2", layout.Alerts}, {"EVENTS", layout.Events}, {"ALERTS", layout.Alerts}} {
			for _, cell := range []int{0, len(c.tab) - 1} {
				m.board.setFocus(layout.Intents)
				x, y := placeOf(t, m, c.tab)
				if clickAt(m, x+cell, y); m.board.focus != c.want {
					t.Errorf("%v: a click on %s focuses pane %d", size, c.tab, m.board.focus)
				}
			}
		}
	}
}

func TestAHintOfTheFooterTakesClicksAsItsKeyIsTaken(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}, {40, 12}} {
		for _, opened := range [][]string{nil, {"enter"}, {"2"}, {"/", "a"}, {"i", "c", "i"}} {
			board := func() *Model {
				m := boardOf(t, typicalShop(time.Unix(1e9, 0)), size[0], size[1], armed(&guard{}), func(c *Config) {
					c.Now = func() time.Time { return time.Unix(1e9, 0) }
				})
				press(m, opened...)
				m.View()
				return m
			}
			spots := board().footer.spots
			if len(spots) == 0 && len(opened) < 2 {
				t.Errorf("%v after %v: nothing in the footer takes clicks", size, opened)
			}
			for _, s := range spots {
				byKey, byClick := board(), board()
				key := s.key
				name := map[rune]string{tea.KeyEnter: "enter", tea.KeyEscape: "esc"}[key]
				if a, ok := byKey.cfg.Actions.Action(s.id); ok {
					name = a.Keys[0]
				}
				_, first := byKey.Update(actiontest.Press(name))
				second := clickAt(byClick, s.to-1, size[1]-1)
				if screen(byKey) != screen(byClick) || (first == nil) != (second == nil) {
					t.Errorf("%v after %v: a click on the hint of %s shows\n%s\nthe key\n%s", size, opened, name, screen(byClick), screen(byKey))
				}
				beside := board()
				before := screen(beside)
				if clickAt(beside, s.to, size[1]-1); screen(beside) != before {
					t.Errorf("%v after %v: a click behind the hint of %s does something", size, opened, name)
				}
			}
		}
	}
}

func TestADoubleClickOpensTheRow(t *testing.T) {
	cases := []struct {
		name   string
		pause  time.Duration
		move   int  // of the pointer between the clicks
		change bool // of the board between them
		key    string
		opens  bool
	}{
		{"two clicks at once", 100 * time.Millisecond, 0, false, "", true},
		{"with a trembling hand", 100 * time.Millisecond, 1, false, "", true},
		{"while rows come in", 100 * time.Millisecond, 0, true, "", true},
		{"two clicks", time.Second, 0, false, "", false},
		{"two clicks at two places", 100 * time.Millisecond, 8, false, "", false},
		{"with a key between", 100 * time.Millisecond, 0, false, "k", false},
	}
	for _, c := range cases {
		for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
			for _, on := range []struct {
				name string
				pane layout.Pane
				from string // the key of the pane that has the focus
			}{{"an intent", layout.Intents, "4"}, {"an event", layout.Events, "1"}} {
				synctest.Test(t, func(t *testing.T) {
					s := typicalShop(time.Now())
					m := boardOf(t, s, size[0], size[1])
					press(m, on.from)
					r := m.board.layout.Panes[on.pane]
					x, y := r.X+30, r.Y+min(r.H-1, 5)
					clickAt(m, x, y)
					want := m.board.subject()
					time.Sleep(c.pause)
					if c.change {
						s.event(50, api.OfferRetrieved, 0)
						s.intent(99, api.AwaitingConfirmation, 44*time.Minute)
						m.Update(changesMsg{s.Changes(0)})
					}
					if c.key != "" {
						press(m, c.key)
					}
					clickAt(m, x+c.move, y)
					if m.board.detailOpen != c.opens || c.opens && (m.board.detail.Subject() != want || m.board.focus != layout.Detail || want.Kind == pane.None) {
						t.Errorf("%s on %s, %v: open %t, want %t; it shows %v, want %v", c.name, on.name, size, m.board.detailOpen, c.opens, m.board.detail.Subject(), want)
					}
				})
			}
		}
	}
}

func TestThePalettesRowsTakeClicks(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
		m := boardOf(t, typicalShop(time.Now()), size[0], size[1])
		press(m, ":", "z", "o", "o", "m")
		if clickOn(t, m, "Zoom pane"); !m.board.zoom || m.dialog.open() {
			t.Errorf("%v: zoom %t, palette open %t after a click on its row", size, m.board.zoom, m.dialog.open())
		}
		press(m, ":")
		clickOn(t, m, "Confirm intent")
		if got := screen(m); !m.dialog.open() || !strings.Contains(got, "Not now: read-only: start with --allow-confirm.") {
			t.Errorf("%v: a click on what cannot be done does not say why:\n%s", size, got)
		}
		clickOn(t, m, "Find an action") // its title
		if !m.dialog.open() {
			t.Errorf("%v: a click beside the rows closes the palette", size)
		}
		if clickOn(t, m, "esc close"); m.dialog.open() {
			t.Errorf("%v: a click on esc leaves the palette open", size)
		}
	}
}

func TestButtonsThatConfirmAreGuardedAsTheKeysAre(t *testing.T) {
	cases := []struct {
		name string
		live bool
		act  func(t *testing.T, m *Model)
		sent int
	}{
		{"a click after a rest", false, func(t *testing.T, m *Model) {
			rest(m)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		}, 1},
		{"a double click after a rest", false, func(t *testing.T, m *Model) {
			rest(m)
			cmd := clickOn(t, m, "Confirm 12.90 USD")
			clickAt(m, 60, 20)
			settle(m, cmd)
		}, 1},
		{"a click before the terminal has answered", false, func(t *testing.T, m *Model) {
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
			time.Sleep(3 * time.Second)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		}, 0},
		{"a click right behind a key", false, func(t *testing.T, m *Model) {
			rest(m)
			press(m, "x")
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		}, 0},
		{"a click right behind a paste", false, func(t *testing.T, m *Model) {
			rest(m)
			m.Update(tea.PasteMsg{Content: "x"})
			time.Sleep(time.Second)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		}, 0},
		{"a click on Cancel", false, func(t *testing.T, m *Model) {
			rest(m)
			settle(m, clickOn(t, m, "Cancel"))
		}, 0},
		{"a click with another button", false, func(t *testing.T, m *Model) {
			rest(m)
			x, y := placeOf(t, m, "Confirm 12.90 USD")
			_, cmd := m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseRight})
			settle(m, cmd)
		}, 0},
		{"clicks alone, with real money", true, func(t *testing.T, m *Model) {
			for range 5 {
				rest(m)
				settle(m, clickOn(t, m, "Confirm 12.90 USD"))
			}
		}, 0},
		{"one click on what is armed, with real money", true, func(t *testing.T, m *Model) {
			arm(m)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		}, 0},
		{"a double click on what is armed, with real money", true, func(t *testing.T, m *Model) {
			arm(m)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
			time.Sleep(200 * time.Millisecond)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		}, 0},
		{"two clicks on what is armed, with real money", true, func(t *testing.T, m *Model) {
			arm(m)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
			rest(m)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		}, 1},
		{"a click and enter on what is armed, with real money", true, func(t *testing.T, m *Model) {
			arm(m)
			settle(m, clickOn(t, m, "Confirm 12.90 USD"))
			rest(m)
			settle(m, press(m, "enter"))
		}, 1},
	}
	for _, c := range cases {
		for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := &guard{answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
					m := boardOf(t, typicalShop(time.Now()), size[0], size[1], armed(g), func(cfg *Config) { cfg.Live = c.live })
					clickOn(t, m, "c confirm")
					if m.dialog.confirm() == nil {
						t.Fatalf("no dialog:\n%s", screen(m))
					}
					c.act(t, m)
					m.confirms.running.Wait()
					if len(g.asked) != c.sent {
						t.Errorf("confirmed %d times, want %d:\n%s", len(g.asked), c.sent, screen(m))
					}
				})
			})
		}
	}
}

// arm types the total, and rests.
func arm(m *Model) {
	rest(m)
	for _, letter := range "12.90" {
		press(m, string(letter))
	}
	rest(m)
}

func TestTheOutcomeIsClosedByAClick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
		m := boardOf(t, typicalShop(time.Now()), 120, 36, armed(g))
		press(m, "c")
		rest(m)
		settle(m, clickOn(t, m, "Confirm 12.90 USD"))
		if clickOn(t, m, "[ Close ]"); m.dialog.confirm() == nil {
			t.Error("the second click of a double click has closed the outcome")
		}
		time.Sleep(time.Second)
		if clickOn(t, m, "[ Close ]"); m.dialog.open() {
			t.Errorf("a click leaves the outcome open:\n%s", screen(m))
		}
		m.confirms.running.Wait()
	})
}
