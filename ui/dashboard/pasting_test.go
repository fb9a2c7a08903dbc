package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/job"
)

func TestARefusedPasteSaysSo(t *testing.T) {
	long := strings.Repeat("ci_779d1ba1900f41e1ace4536c64382ed7 ", 400)
	for _, c := range []struct {
		name string
		keys []string
		text string
		want string // "" where it is taken
	}{
		{"on the board", nil, "ci_779d", "! pasted text is not accepted here: / filters by it, i goes to an id"},
		{"in the detail", []string{"enter"}, "ci_779d", "! pasted text is not accepted here: / filters by it, i goes to an id"},
		{"nothing but an end of line", nil, "\n", "! pasted text is not accepted here"},
		{"in the help", []string{"?"}, "ci_779d", "pasted text is not accepted here"},
		{"in a menu", []string{"E"}, "ci_779d", "pasted text is not accepted here"},
		{"where it would confirm", []string{"c"}, "C", "Pasted text is ignored: type it."},
		{"into a filter", []string{"/"}, "wool", ""},
		{"into a filter, too long", []string{"/", "w"}, long, "! the pasted text is not accepted: a filter may have at most 120 characters"},
		{"into a filter, with room for each character", []string{"/"}, strings.Repeat("é", 70), ""},
		{"as an id", []string{"i"}, "ci_779d", ""},
		{"as an id, too long", []string{"i"}, long, "! the pasted text is not accepted: an id may have at most"},
		{"into the palette", []string{":"}, "zoom", ""},
		{"into the palette, too long", []string{":"}, long, "the pasted text is too long: 200 characters fit here"},
		{"into the search of the help", []string{"?", "/"}, "zoom", ""},
		{"into the search of the help, too long", []string{"?", "/"}, long, "the pasted text is too long: 40 characters fit here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 120, 36, armed(&guard{}))
			press(m, c.keys...)
			m.Update(tea.PasteMsg{Content: c.text})
			got := screen(m)
			if c.want == "" && (strings.Contains(got, "not accepted") || !strings.Contains(got, c.text)) {
				t.Errorf("%q is not taken:\n%s", c.text, got)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("no %q:\n%s", c.want, got)
			}
		})
	}
}

func TestAPasteThatDoesNotEndIsSaidToBeDropped(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	if _, cmd := m.Update(job.UnendedPasteMsg{}); cmd == nil || !strings.Contains(screen(m), "the terminal did not end a paste: the pasted text was dropped") {
		t.Errorf("it says:\n%s", screen(m))
	}
}

func TestALongTextThatComesAsKeysIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := boardOf(t, typicalShop(time.Now()), 120, 36)
		keys := func(n int, name string) {
			keys := make(job.KeysMsg, n)
			for i := range keys {
				keys[i] = actiontest.Press(name)
			}
			m.Update(keys)
		}
		before := m.board.subject()
		keys(5, "j")
		fifth := m.board.subject()
		keys(mostTyped+1, "k")
		if got := screen(m); m.board.subject() != fifth || fifth == before || !strings.Contains(got, "a long text arrived as key presses: it was dropped") {
			t.Errorf("keys move from %v to %v:\n%s", fifth, m.board.subject(), got)
		}
		time.Sleep(textPause - 1)
		keys(5, "k")
		if m.board.subject() != fifth {
			t.Error("the end of the text counts as keys")
		}
		time.Sleep(textPause)
		keys(5, "k")
		if m.board.subject() != before {
			t.Error("keys do not count again")
		}
	})
}
