package dashboard

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/canvas"
)

func TestWhatIsSaidToBeCopiedIsCopied(t *testing.T) {
	var taken string
	copies := func(err error) func(*Config) {
		return func(c *Config) {
			c.Copy = func(_ context.Context, text string) error { taken = text; return err }
		}
	}
	on := func(term string) *canvas.Canvas {
		return canvas.New(canvas.Config{Out: io.Discard, Environ: []string{"TERM=" + term}})
	}
	for _, c := range []struct {
		name   string
		copies func(*Config)
		canvas *canvas.Canvas
		asks   bool // the terminal is asked
		says   string
	}{
		{"a program takes it", copies(nil), on("tmux-256color"), false, "· copied ID"},
		{"a program fails", copies(errors.New("no server")), on("tmux-256color"), true, "· asked the terminal to copy ID"},
		{"nothing is known of the terminal", func(*Config) {}, on("xterm-256color"), true, "· asked the terminal to copy ID"},
		{"the terminal is too old to ask", func(*Config) {}, on("vt220"), false, "· this terminal cannot copy ID"},
	} {
		t.Run(c.name, func(t *testing.T) {
			taken = ""
			m := boardOf(t, typicalShop(time.Now()), 160, 45, c.copies)
			m.canvas = c.canvas
			in, _ := m.board.intentUnder()
			id := string(in.ID)
			asked := false
			for _, msg := range perform(m, press(m, "y")) {
				asked = asked || msg == terminalMsg(ansi.SetSystemClipboard(id))
			}
			if asked != c.asks || taken != "" && taken != id {
				t.Errorf("the terminal is asked: %t, and a program got %q", asked, taken)
			}
			if want := strings.ReplaceAll(c.says, "ID", id); !strings.Contains(screen(m), want) {
				t.Errorf("it does not say %q:\n%s", want, screen(m))
			}
		})
	}
}
