package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"

	"tillwatch/ui/dashboard/canvas"
)

// textOf is what a terminal shows that is sent lines as they are.
func textOf(lines []string, width, height int) string {
	e := vt.NewEmulator(width, height)
	_, _ = e.WriteString(strings.Join(lines, "\r\n"))
	return e.String()
}

// However a person wanders about, what the terminal was sent in small pieces is
// what the model draws as a whole.
func TestTheTerminalShowsWhatTheModelDraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const width, height = 160, 40
		s := typicalShop(time.Now())
		m := boardOf(t, s, width, height)
		screen := vt.NewEmulator(width, height)
		m.canvas = canvas.New(canvas.Config{Out: screen, Environ: []string{"TERM=xterm-256color", notAsked}})
		m.resize(tea.WindowSizeMsg{Width: width, Height: height})
		enter(t, m.canvas)
		look := func(after string) {
			t.Helper()
			m.View()
			time.Sleep(canvas.Pause) // of the bubble's clock
			synctest.Wait()
			m.redraw = true
			if got, want := screen.String(), textOf(m.lines(), width, height); got != want {
				t.Fatalf("after %s the terminal shows\n%s\nwant\n%s", after, got, want)
			}
		}
		look("the start")
		for _, key := range strings.Fields("tab j j k shift+tab enter esc z z ? esc : esc tab tab G g space space / o l d enter esc") {
			press(m, key)
			look(key)
		}
		for i := range 5 {
			m.Update(changeOf(s, i))
			look("a change")
			time.Sleep(time.Second) // of the bubble's clock
			m.Update(tickMsg{})
			look("a second")
		}
		screen.Resize(width-30, height-8)
		m.Update(tea.WindowSizeMsg{Width: width - 30, Height: height - 8})
		m.View()
		if got, want := screen.String(), textOf(m.lines(), width-30, height-8); got != want {
			t.Errorf("after a resize the terminal shows\n%s\nwant\n%s", got, want)
		}
	})
}
