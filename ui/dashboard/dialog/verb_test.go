package dialog

import (
	"testing"
	"time"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
)

func TestTabCompletesAnArgumentByWholeLettersAndThenMovesOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		offers []string
		typed  string
		want   string
	}{
		{"the offers agree", []string{"late", "lately"}, "l", "forget late"},
		{"they differ in the second byte of a letter", []string{"spät", "spöt"}, "s", "forget sp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPalette(action.Default(), action.Board, nil)
			p.SetVerbs([]Verb{{Name: "forget", Argument: "NAME", Offers: func() []string { return c.offers }}})
			p.set("forget " + c.typed)
			p.Key(actiontest.Press("tab"), time.Time{})
			if got := p.field.Value(); got != c.want || p.at != 0 {
				t.Errorf("%q with the cursor on %d, want %q with it on the first", got, p.at, c.want)
			}
			p.Key(actiontest.Press("tab"), time.Time{})
			if got := p.field.Value(); got != c.want || p.at != 1 {
				t.Errorf("%q with the cursor on %d, want %q with it on the second", got, p.at, c.want)
			}
		})
	}
}
