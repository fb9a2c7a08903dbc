package canvas

import (
	"bytes"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

func TestAStyleIsSentOnlyWhereSomethingIsDrawnInIt(t *testing.T) {
	const muted, bright = "\x1b[38;2;138;147;166;48;2;16;19;26m", "\x1b[38;2;215;220;230;48;2;16;19;26m"
	blanks := strings.Repeat(" ", 20)
	cases := []struct {
		name          string
		plain         bool // terminal
		first, second string
		want          string
	}{
		{"the same again", false, muted + "1\x1b[m", muted + "2\x1b[m", "2"},
		{"only what differs", false, muted + "1\x1b[m", bright + "2\x1b[m", "\x1b[38;2;215;220;230m2"},
		{"in no style", false, muted + "1\x1b[m", "2", "\x1b[m2"},
		{"erased in a style", false, "1", muted + blanks + "\x1b[m", muted + "\x1b[20X"},
		{"erased before a word", false, "1", muted + blanks + "x\x1b[m", muted + "\x1b[20X\x1b[20Cx"},
		{"blanks on a plain terminal", true, "1", muted + blanks + "\x1b[m", muted + blanks},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := pen{erases: !c.plain, x: -1}
			var w bytes.Buffer
			at := 0
			for _, text := range []string{c.first, c.second} {
				w.Reset()
				cells := uv.NewScreenBuffer(40, 1)
				styled := uv.NewStyledString(text)
				width := styled.Bounds().Dx()
				styled.Draw(cells, uv.Rect(at, 0, width, 1))
				p.write(&w, cells.Line(0), at, at+width, 0)
				at += width
			}
			if w.String() != c.want {
				t.Errorf("sent %q, want %q", w.String(), c.want)
			}
		})
	}
}

// Terminals differ in how far the cursor goes with a cluster: what follows has a column of its own.
func TestWhatFollowsADisputedClusterIsPlaced(t *testing.T) {
	for text, want := range map[string]string{
		"क्षय|": "\x1b[1;4Hक्ष\x1b[1;5Hय|",
		"हि |":  "\x1b[1;4Hहि\x1b[1;5H |",
		"👍🏽|":   "\x1b[1;4H👍🏽\x1b[1;6H|",
		"é日ही":  "\x1b[1;4Hé日ही",
	} {
		p := pen{erases: true, x: -1}
		var w bytes.Buffer
		cells, width := uv.NewScreenBuffer(40, 1), ansi.StringWidth(text)
		cells.Method = ansi.GraphemeWidth
		uv.NewStyledString(text).Draw(cells, uv.Rect(3, 0, width, 1))
		if p.write(&w, cells.Line(0), 3, 3+width, 0); w.String() != want {
			t.Errorf("%s is sent as %q, want %q", text, w.String(), want)
		}
	}
}
