package dialog

import (
	"strings"
	"testing"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
)

func TestHelpShowsEveryActionAndSign(t *testing.T) {
	table := action.Default()
	h := NewHelp(dark(t), table, table.ReadOnly(nil))
	w, height := h.Size(200, 100)
	screen := plain(h.View(w, height))
	for _, a := range table.Actions() {
		if !strings.Contains(screen, a.Title) {
			t.Errorf("%q is not in the help", a.Title)
		}
	}
	for _, sign := range []string{"◌", "◆", "▸", "✓", "✕", "unread", "read-only"} {
		if !strings.Contains(screen, sign) {
			t.Errorf("%q is not in the help", sign)
		}
	}
}

func TestHelpScrollsToItsEndAndBack(t *testing.T) {
	h := NewHelp(dark(t), action.Default(), nil)
	first := plain(h.View(40, 12))
	if !strings.Contains(first, "Next pane") || strings.Contains(first, "○  none") {
		t.Fatalf("it does not open at its top:\n%s", first)
	}
	h.Key(actiontest.Press("G"), opened)
	if last := plain(h.View(40, 12)); !strings.Contains(last, "○  none") {
		t.Errorf("G does not show the end:\n%s", last)
	}
	for _, name := range []string{"j", "down", "pgdown", " ", "end"} {
		before := plain(h.View(40, 12))
		h.Key(actiontest.Press(name), opened)
		if after := plain(h.View(40, 12)); after != before {
			t.Errorf("%q goes past the end", name)
		}
	}
	h.Key(actiontest.Press("g"), opened)
	for _, name := range []string{"k", "up", "pgup", "home"} {
		h.Key(actiontest.Press(name), opened)
		if got := plain(h.View(40, 12)); got != first {
			t.Errorf("%q goes before the top", name)
		}
	}
	h.Key(actiontest.Press("pgdown"), opened)
	h.Key(actiontest.Press("j"), opened)
	if h.top != h.page+1 {
		t.Errorf("a page and a line are %d lines", h.top)
	}
}

func TestHelpIsClosed(t *testing.T) {
	table, err := action.Default().Remap(map[action.ID][]string{action.Help: {"H"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"esc", "q", "?", "enter", "H"} {
		if NewHelp(dark(t), table, nil).Key(actiontest.Press(name), opened).Kind != Closed {
			t.Errorf("%q does not close it", name)
		}
	}
	for _, name := range []string{"j", "x", "c", "tab"} {
		if NewHelp(dark(t), table, nil).Key(actiontest.Press(name), opened).Kind != None {
			t.Errorf("%q closes it", name)
		}
	}
}

func TestHelpIsOneColumnWhereItIsNarrow(t *testing.T) {
	h := NewHelp(dark(t), action.Default(), nil)
	for room, want := range map[int]int{0: 1, 30: 1, 70: 1, 71: 2, 107: 2, 108: 3} {
		if got := h.columns(room); got != want {
			t.Errorf("%d cells: %d columns, want %d", room, got, want)
		}
	}
}
