package dashboard

import (
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
)

func TestPanesStandAtTheirPlacesAndARuleBeforeTheDetail(t *testing.T) {
	l := layout.Layout{}
	l.Panes[layout.Shipments] = layout.Rect{X: 0, Y: 1, W: 3, H: 2}
	l.Panes[layout.Quota] = layout.Rect{X: 5, Y: 1, W: 3, H: 1}
	l.Panes[layout.Detail] = layout.Rect{X: 11, Y: 1, W: 4, H: 1}
	var content [layout.Panes][]string
	content[layout.Shipments], content[layout.Quota], content[layout.Detail] = []string{"aaa", "bbb"}, []string{"ccc"}, []string{"dddd"}
	p := page{line: paint.NewLine(paint.NewBrush(themes.Theme{}, false)), layout: &l, width: 16, height: 4}
	want := []string{"                ", "aaa  ccc  │dddd ", "bbb             ", "                "}
	for y, line := range p.panes(&content) {
		if got := ansi.Strip(line); got != want[y] {
			t.Errorf("line %d is %q, want %q", y, got, want[y])
		}
	}
}
