package dashboard

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

func TestTheFooterSaysWhyNothingCanBeConfirmedAndTakesClicks(t *testing.T) {
	for _, armed := range []bool{false, true} {
		f := footer{cfg: &Config{Actions: action.Default(), Armed: armed}}
		l := paint.NewLine(paint.NewBrush(themes.Theme{}, false)).Start(240)
		f.spots = f.hints(l, action.Board)
		text := ansi.Strip(l.String())
		if len(f.spots) == 0 {
			t.Fatal("nothing takes clicks")
		}
		if says := strings.Contains(text, "confirm — read-only"); says == armed {
			t.Errorf("armed %t: the footer says that it is read-only: %t\n%s", armed, says, text)
		}
		cells := []rune(text)
		for _, spot := range f.spots {
			if got, ok := f.at(spot.to - 1); !ok || got != spot {
				t.Errorf("armed %t: a click on %q is for %+v", armed, string(cells[spot.from:spot.to]), got)
			}
			if key := f.cfg.Actions.KeyOf(spot.id); !strings.HasPrefix(string(cells[spot.from:spot.to]), key+" ") {
				t.Errorf("armed %t: %q stands where %s takes clicks", armed, string(cells[spot.from:spot.to]), spot.id)
			}
		}
		if s, ok := f.at(240); ok {
			t.Errorf("a click outside is for %+v", s)
		}
	}
}
