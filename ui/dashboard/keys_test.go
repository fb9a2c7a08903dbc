package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

func TestKeysMoveTheFocus(t *testing.T) {
	cases := []struct {
		name string
		keys []string
		want layout.Pane
	}{
		{"at first", nil, layout.Intents},
		{"tab", []string{"tab"}, layout.Shipments},
		{"tab goes round", []string{"tab", "tab", "tab", "tab"}, layout.Intents},
		{"the pulse by its key", []string{"P"}, layout.Pulse},
		{"and back", []string{"3", "P", "P"}, layout.Quota},
		{"shift+tab", []string{"shift+tab"}, layout.Events},
		{"a digit", []string{"3"}, layout.Quota},
		{"requests", []string{"5"}, layout.Requests},
		{"right turns to the next tab", []string{"4", "l"}, layout.Requests},
		{"and the next", []string{"4", "l", "l"}, layout.Alerts},
		{"the last tab is the last", []string{"4", "l", "l", "l"}, layout.Alerts},
		{"left turns back", []string{"6", "h", "h", "h"}, layout.Events},
		{"tab goes past the tabs that are not shown", []string{"6", "tab", "shift+tab"}, layout.Alerts},
		{"an alert opens its intent", []string{"6", "enter"}, layout.Detail},
		{"the detail by its key", []string{"enter", "tab", "0"}, layout.Detail},
		{"enter opens the detail", []string{"enter"}, layout.Detail},
		{"esc comes back from it", []string{"4", "enter", "esc"}, layout.Events},
		{"tab leaves it for the board beside it", []string{"2", "enter", "tab"}, layout.Shipments},
		{"nothing to open in the quota", []string{"3", "enter"}, layout.Quota},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 200, 55)
			press(m, c.keys...)
			if m.board.focus != c.want {
				t.Errorf("focus on pane %d, want %d", m.board.focus, c.want)
			}
		})
	}
}

func TestEveryActionOfTheTableIsPerformedOrSaysWhyNot(t *testing.T) {
	for _, a := range action.Default().Actions() {
		t.Run(string(a.ID), func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 200, 55)
			press(m, "/", "e", "enter", "l", "j", "j")
			switch {
			case a.Scope == action.Detail:
				press(m, "enter")
			case a.ID == action.FocusPane1:
				press(m, "2")
			}
			before, mouse := screen(m), m.pointer.off
			cmd := m.do(a.ID)
			m.redraw = true
			if screen(m) == before && m.pointer.off == mouse && cmd == nil {
				t.Errorf("%s does nothing and says nothing", a.ID)
			}
		})
	}
}

func TestAKeyThatWorksOnlyElsewhereSaysWhere(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"p"}, `"Show personal data" works only in a detail`},
		{[]string{"N"}, `"Previous found" works only in a detail`},
		{[]string{"enter", "F"}, `"Failures" works only on the board: esc goes back`},
		{[]string{"enter", "x"}, `"Mark intent" works only on the board: esc goes back`},
		{[]string{"enter", "5"}, `"Pane 5: requests" works only on the board: esc goes back`},
	} {
		m := boardOf(t, typicalShop(time.Now()), 80, 24)
		press(m, c.keys...)
		if got := pressingLine(m); !strings.Contains(got, c.want) {
			t.Errorf("%v: the line says %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestTheCursorStaysOnItsIntentWhenLanesBecomeAList(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 200, 55)
	press(m, "l", "l", "j", "j")
	id := m.board.subject().ID
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 36}} {
		m.Update(size)
		if got := m.board.subject().ID; got != id {
			t.Errorf("cursor on %s at %dx%d, want %s", got, size.Width, size.Height, id)
		}
	}
}

func TestFreezeHoldsTheScreenAndCountsWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := typicalShop(time.Now())
		m := boardOf(t, s, 200, 55)
		press(m, "space")
		rows := func() string { return screen(m)[strings.Index(screen(m), "INTENTS"):] }
		before := rows()
		time.Sleep(90 * time.Second)
		s.intent(60, api.AwaitingConfirmation, 0)
		s.event(60, api.OfferRetrieved, 0)
		s.event(61, api.OfferRetrieved, 0)
		m.Update(changesMsg{s.Changes(0)})
		m.Update(tickMsg{})
		if got := rows(); got != before {
			t.Errorf("the frozen board changed:\n%s", got)
		}
		if got := screen(m); !strings.Contains(got, "FROZEN at 00:00:00 · 2 new events") {
			t.Errorf("no count of what is new:\n%s", got)
		}
		press(m, "space")
		if got := screen(m); !strings.Contains(got, "awaiting 8") || strings.Contains(got, "FROZEN") {
			t.Errorf("the board did not go on:\n%s", got)
		}
	})
}

func TestTheMousePointsIntoPanes(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 200, 55)
	r := m.board.layout.Panes[layout.Shipments]
	m.Update(tea.MouseClickMsg{X: r.X + 5, Y: r.Y + 4, Button: tea.MouseLeft})
	if m.board.focus != layout.Shipments || m.board.subject().Kind != pane.OfShipment {
		t.Errorf("focus %d, subject %v after a click on a shipment", m.board.focus, m.board.subject())
	}
	lane := m.board.layout.Panes[layout.Intents]
	m.Update(tea.MouseClickMsg{X: lane.X + 130, Y: lane.Y + 6, Button: tea.MouseLeft})
	if in, ok := m.board.intentUnder(); m.board.focus != layout.Intents || !ok || in.State != api.Completed {
		t.Errorf("after a click on a completed intent: focus %d, intent %+v", m.board.focus, in)
	}
	before := screen(m)
	m.Update(tea.MouseWheelMsg{X: lane.X + 130, Y: lane.Y + 6, Button: tea.MouseWheelDown})
	if screen(m) == before {
		t.Error("the wheel does not scroll the lane")
	}
	press(m, "m")
	if m.modes().Mouse {
		t.Error("the mouse was not given back")
	}
}

func TestZoomEnlargesTheDetailAndEscGivesTheBoardBack(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 200, 55)
	before := screen(m)
	press(m, "enter")
	beside := screen(m)
	press(m, "z")
	if r := m.board.layout.Panes[layout.Detail]; r.W != 200 || m.board.focus != layout.Detail || !m.board.layout.Panes[layout.Intents].Empty() {
		t.Errorf("the detail is %+v, the focus on pane %d, want it as wide as the screen:\n%s", r, m.board.focus, screen(m))
	}
	press(m, "z")
	if got := screen(m); got != beside {
		t.Errorf("a second z does not give the place back:\n%s", got)
	}
	press(m, "z", "esc")
	if got := screen(m); got != before {
		t.Errorf("the board is not as it was once the detail is closed:\n%s", got)
	}
	press(m, "z", "enter", "esc")
	if !m.board.zoom {
		t.Error("a pane of the board that was enlarged before is no longer")
	}
	narrow := boardOf(t, typicalShop(time.Now()), 80, 24)
	press(narrow, "enter", "z")
	if got := screen(narrow); !strings.Contains(got, "the detail fills the screen already") {
		t.Errorf("nothing is said where the detail has the whole place:\n%s", got)
	}
}

func TestZoomAndFilterGiveWayToEsc(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	press(m, "z", "/", "a", "enter", "esc")
	if !m.board.zoom || m.filters.inPane[layout.Intents] != nil {
		t.Error("the first esc is for the filter")
	}
	press(m, "esc")
	if m.board.zoom {
		t.Error("the second esc is for the zoom")
	}
}

func TestTwoEscapesThatComeTogetherLeaveLikeOne(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	press(m, "?", "alt+esc")
	if m.dialog.open() {
		t.Error("the help stays open")
	}
	press(m, "/", "alt+esc")
	if m.prompt() != nil {
		t.Error("the filter is still typed")
	}
}

func TestTheTerminalReportsThePlacesOfLettersToThoseWhoNeedIt(t *testing.T) {
	const again, never = "press it again, or switch", "the keys are Latin letters: switch"
	russian := tea.KeyPressMsg{Code: 'й', Text: "й"}
	placed := tea.KeyPressMsg{Code: 'ы', BaseCode: 's', Text: "ы"}
	for _, c := range []struct {
		name   string
		keys   []any // names, or what a keyboard of another script sends
		places bool
		said   string
	}{
		{"Latin letters", []any{"s", "%"}, false, ""},
		{"a Russian letter", []any{russian}, true, again},
		{"a second one, as where the terminal knows no places", []any{russian, russian}, true, never},
		{"a second one with its place", []any{russian, placed}, true, ""},
		{"one that would spend money, by its place", []any{russian, tea.KeyPressMsg{Code: 'с', BaseCode: 'c', Text: "с"}}, true, never},
		{"control and a Russian letter", []any{tea.KeyPressMsg{Code: 'с', Mod: tea.ModCtrl}}, true, again},
		{"the same while a filter is typed", []any{"/", tea.KeyPressMsg{Code: 'с', Mod: tea.ModCtrl}, "esc"}, true, again},
		{"control and a Russian letter with its place", []any{tea.KeyPressMsg{Code: 'а', BaseCode: 'f', Mod: tea.ModCtrl}}, false, ""},
		{"a filter in Russian", []any{"/", russian, russian, "esc"}, false, ""},
		{"while a filter is typed", []any{russian, "/"}, false, again},
		{"while a dialog is open", []any{russian, "?"}, false, ""}, // which hides the notice
		{"once it is closed", []any{russian, "?", "esc"}, true, again},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 120, 36)
			for _, key := range c.keys {
				if name, ok := key.(string); ok {
					press(m, name)
				} else {
					m.Update(key)
				}
			}
			if got := m.modes().Places; got != c.places {
				t.Errorf("places reported: %t", got)
			}
			if line := strings.Split(screen(m), "\n")[1]; strings.Contains(line, "Latin letters") != (c.said != "") || !strings.Contains(line, c.said) {
				t.Errorf("the notice is %q, want %q", line, c.said)
			}
		})
	}
}

func TestWhatIsTypedStaysAsItIsWhateverThePlaceOfItsKey(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	press(m, "/")
	m.Update(tea.KeyPressMsg{Code: 'й', BaseCode: 'q', Text: "й"})
	m.Update(tea.KeyPressMsg{Code: 'я', BaseCode: 'z', Text: "Я", Mod: tea.ModShift})
	if !strings.Contains(screen(m), "йЯ") {
		t.Errorf("something else was typed:\n%s", screen(m))
	}
}
