package dashboard

import (
	"strings"
	"testing"

	"tillwatch/ui/dashboard/action/actiontest"
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
