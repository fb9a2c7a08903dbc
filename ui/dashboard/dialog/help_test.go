package dialog

import (
	"strings"
	"testing"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
)

func TestHelpShowsEveryActionAndSign(t *testing.T) {
	table := action.Default()
	h := NewHelp(table, table.ReadOnly(nil))
	w, height := h.Size(200, 100)
	screen := plain(h.View(ink(), w, height))
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

func TestHelpIsClosed(t *testing.T) {
	table, err := action.Default().Remap(map[action.ID][]string{action.Help: {"H"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"esc", "q", "?", "enter", "H"} {
		if NewHelp(table, nil).Key(actiontest.Press(name), opened).Kind != Closed {
			t.Errorf("%q does not close it", name)
		}
	}
	for _, name := range []string{"j", "x", "c", "tab"} {
		if NewHelp(table, nil).Key(actiontest.Press(name), opened).Kind != None {
			t.Errorf("%q closes it", name)
		}
	}
}

func TestHelpHasTwoColumnsOnASmallScreenWithTheCommonKeysFirst(t *testing.T) {
	table := action.Default()
	h := NewHelp(table, table.ReadOnly(func(action.ID) string { return "not now: for a reason that takes a line" }))
	w, height := h.Size(76, 22)
	screen := plain(h.View(ink(), w, height))
	lines := strings.Split(screen, "\n")
	if h.columns(w-frame-2*helpInset(w)) != 2 || w > 76 || height > 22 {
		t.Errorf("%d cells by %d lines are not two columns:\n%s", w, height, screen)
	}
	for _, common := range []string{"Open detail", "Filter", "Confirm intent", "Find an action", "Quit", "Next pane"} {
		if !strings.Contains(screen, common) {
			t.Errorf("%q is not among the first:\n%s", common, screen)
		}
	}
	if !strings.Contains(lines[2], "Common") {
		t.Errorf("it begins with %q", lines[2])
	}
	if !strings.Contains(lines[0], action.ReadOnlyReason) || strings.Contains(screen, "takes a line") {
		t.Errorf("what is not possible is not said once and for all:\n%s", screen)
	}
}

func TestHelpIsSearched(t *testing.T) {
	h := NewHelp(action.Default(), nil)
	w, height := h.Size(76, 22)
	view := func() string { return plain(h.View(ink(), w, height)) }
	before := view()
	h.Key(actiontest.Press("/"), opened)
	for _, letter := range []string{"T", "H", "e", "m"} {
		h.Key(actiontest.Press(letter), opened)
	}
	got := view()
	if !strings.Contains(got, "Next theme") || !strings.Contains(got, "/ THem▏") || strings.Contains(got, "Confirm intent") || strings.Count(got, "\n") != strings.Count(before, "\n") {
		t.Errorf("searched for a theme:\n%s", got)
	}
	h.Key(actiontest.Press("backspace"), opened)
	h.Key(actiontest.Press("q"), opened)
	if got := view(); !strings.Contains(got, "nothing in the help contains THeq") {
		t.Errorf("it does not say that nothing is found:\n%s", got)
	}
	h.Key(actiontest.Press("backspace"), opened)
	h.Paste("m\x1b")
	if h.Key(actiontest.Press("enter"), opened).Kind != None || !strings.Contains(view(), "Next theme") || strings.Contains(view(), "▏") {
		t.Errorf("enter does not keep it:\n%s", view())
	}
	if h.Key(actiontest.Press("esc"), opened).Kind != None || view() != before {
		t.Errorf("esc does not show all again:\n%s", view())
	}
	if h.Key(actiontest.Press("esc"), opened).Kind != Closed {
		t.Error("esc does not close it once all is shown")
	}
}
