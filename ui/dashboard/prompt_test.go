package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/paint"
)

func TestAPromptIsEdited(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"letters", "w o o l", "wool"},
		{"a letter taken back", "w ö backspace", "w"},
		{"nothing to take back", "backspace", ""},
		{"all taken back", "w o ctrl+u l", "l"},
		{"no more than there is room for", "a b c d e f g", "abcdef"},
	} {
		p := &prompt{most: 6}
		for name := range strings.FieldsSeq(c.keys) {
			p.key(actiontest.Press(name))
		}
		if p.text != c.want {
			t.Errorf("%s: %q, want %q", c.name, p.text, c.want)
		}
	}
	p := &prompt{text: "abc", most: 9}
	if p.add("defghij") || p.text != "abc" {
		t.Errorf("a paste that is too long left %q", p.text)
	}
	if !p.add("\x1b[31m") || strings.Contains(p.text, "\x1b") {
		t.Errorf("a control sequence was taken: %q", p.text)
	}
}

func TestTheHintsOfAPromptTakeClicksWhereThereIsRoom(t *testing.T) {
	const hint = "enter keeps it   esc cancels   !word excludes"
	line := paint.NewLine(paint.NewBrush(themes.Theme{}, false))
	l := line.Start(80)
	spots := promptHints(l, hint)
	text := ansi.Strip(l.String())
	if len(spots) != 2 || text[spots[0].from:spots[0].to] != "enter keeps it" || text[spots[1].from:spots[1].to] != "esc cancels" {
		t.Errorf("%v take clicks in %q", spots, text)
	}
	if spots := promptHints(line.Start(40), hint); spots != nil {
		t.Errorf("%v take clicks without room for them", spots)
	}
}
