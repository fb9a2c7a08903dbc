package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
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
		{"in the dialog of the board", []string{"v"}, "ci_779d", "pasted text is not accepted here"},
		{"where it would confirm", []string{"c"}, "C", "Pasted text is ignored: type it."},
		{"into a filter", []string{"/"}, "wool", ""},
		{"into a filter, too long", []string{"/", "w"}, long, "! the pasted text is not accepted: a filter may have at most 120 characters"},
		{"as an id", []string{"i"}, "ci_779d", ""},
		{"as an id, too long", []string{"i"}, long, "! the pasted text is not accepted: an id may have at most"},
		{"into the palette", []string{":"}, "zoom", ""},
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
