package pane

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/paint"
)

// drawnChart is a chart as it is seen, without the blanks at the ends of its lines.
func drawnChart(c *chart) string {
	var lines []string
	l := paint.NewLine(look().Brush)
	for y := range c.h {
		l.Start(c.w)
		c.row(l, y)
		lines = append(lines, strings.TrimRight(ansi.Strip(l.String()), " "))
	}
	return strings.Join(lines, "\n")
}

func TestAChartShowsWhoSpentHowMuchOfALimit(t *testing.T) {
	own := func(n float64) part { return part{n, solid, paint.Accent} }
	other := func(n float64) part { return part{n, "▓", paint.Placing} }
	bars := func(all ...bar) []bar { return all }
	cases := []struct {
		name  string
		chart chart
		want  string
	}{
		{"parts lie above each other, the limit is a line", chart{limit: 8, bars: bars(
			bar{known: true}, bar{known: true, parts: []part{own(2)}}, bar{known: true, parts: []part{own(4), other(2)}}, bar{},
		)}, "" +
			"\n   8 ▔▔▔▔" +
			"\n       ▓" +
			"\n       █" +
			"\n      ██·" +
			"\n   0 ────"},
		{"what is refused is marked", chart{limit: 4, bars: bars(
			bar{known: true, marked: true, parts: []part{other(4)}}, bar{known: true, marked: true}, bar{known: true},
		)}, "" +
			"\n   4 ▓▔▔" +
			"\n     ▓" +
			"\n     ▓" +
			"\n     ▓" +
			"\n   0 ✕✕─"},
		{"a little is drawn, of whomever it is", chart{limit: 20, bars: bars(
			bar{known: true, parts: []part{own(0.1)}}, bar{known: true, parts: []part{other(0.1)}},
		)}, "" +
			"\n  20 ▔▔" +
			"\n" +
			"\n" +
			"\n     ▁▓" +
			"\n   0 ──"},
		{"a limit far above is not drawn", chart{limit: 36_000, bars: bars(
			bar{known: true, parts: []part{own(1500)}}, bar{known: true, parts: []part{own(750)}},
		)}, "" +
			"\n1.5k █" +
			"\n     █" +
			"\n     ██" +
			"\n     ██" +
			"\n   0 ──"},
		{"more than the limit stands above it", chart{limit: 4, bars: bars(
			bar{known: true, parts: []part{own(8)}}, bar{known: true},
		)}, "" +
			"\n   8 █" +
			"\n     █" +
			"\n   4 █▔" +
			"\n     █" +
			"\n   0 ──"},
		{"of nothing there is no figure", chart{bars: bars(bar{}, bar{known: true})}, "" +
			"\n" +
			"\n" +
			"\n" +
			"\n     ·" +
			"\n   0 ──"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.chart.w, c.chart.h = 20, 7
			if got := strings.TrimRight(drawnChart(&c.chart), "\n"); got != c.want {
				t.Errorf("drawn:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
