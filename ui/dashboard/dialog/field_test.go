package dialog

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action/actiontest"
)

func TestDeletingTheRestOfAWordLeavesTheOthers(t *testing.T) {
	cases := []struct {
		name, text string
		back       int // characters from the end to the cursor
		want       string
	}{
		{"at the end", "big mug", 0, "big mug"},
		{"on the last character", "big mug", 1, "big mu"},
		{"within the last word", "big mug", 2, "big m"},
		{"on the last character of a word", "big mug", 5, "bi mug"},
		{"within a word", "big mug", 6, "b mug"},
		{"before the blank", "big mug", 4, "big"},
		{"before the last blank", "big ", 1, "big"},
		{"before two blanks at the end", "big  ", 2, "big"},
		{"nothing is typed", "", 0, ""},
	}
	for _, c := range cases {
		for _, name := range []string{"alt+d", "alt+delete", "ctrl+delete"} {
			t.Run(c.name+" by "+name, func(t *testing.T) {
				field := newField(100)
				field.Focus()
				field = edited(field, tea.PasteMsg{Content: c.text})
				for range c.back {
					field = edited(field, actiontest.Press("left"))
				}
				field = edited(field, actiontest.Press(name))
				if field.Value() != c.want {
					t.Errorf("%q remains, want %q", field.Value(), c.want)
				}
			})
		}
	}
}
