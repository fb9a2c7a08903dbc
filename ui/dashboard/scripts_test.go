package dashboard

import (
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/dashboard/canvas"
)

func TestClustersAreDrawnOnceTheTerminalSaysThatItMeasuresByThem(t *testing.T) {
	for _, c := range []struct {
		term   string
		answer ansi.ModeSetting
		want   string
	}{
		{"xterm-ghostty", ansi.ModeReset, "क्ष त्रि य हिन्दी"},
		{"xterm-ghostty", ansi.ModeSet, "क्ष त्रि य हिन्दी"},
		{"xterm-256color", ansi.ModeNotRecognized, "कषतरय हनद"},
		{"foot", ansi.ModeSet, "कषतरय हनद"}, // it adds up letters
	} {
		s := newShop(time.Now())
		s.intent(0, api.AwaitingConfirmation, time.Minute).Product = "क्षत्रिय हिन्दी"
		m := boardOf(t, s, 160, 45)
		m.canvas = canvas.New(canvas.Config{Out: io.Discard, Environ: []string{"TERM=" + c.term}})
		if got := screen(m); !strings.Contains(got, "कषतरय हनद") {
			t.Fatalf("before the terminal has answered:\n%s", got)
		}
		m.Update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: c.answer})
		if got := screen(m); !strings.Contains(got, c.want) {
			t.Errorf("%s, after the answer %d, want %s:\n%s", c.term, c.answer, c.want, got)
		}
	}
}
