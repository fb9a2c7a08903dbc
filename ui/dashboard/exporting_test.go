package dashboard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
)

// files is an exporter that says what it was asked for.
type files struct{ fails error }

func (f files) Save(id api.ID, form ExportForm, personal bool) (string, error) {
	return fmt.Sprintf("/exports/%s.%s.%v", id, form, personal), f.fails
}

func exportsTo(fails error) func(*Config) {
	return func(c *Config) { c.Exporter = files{fails} }
}

func TestEvidenceOfAnIntentIsOneKeyAway(t *testing.T) {
	for _, c := range []struct {
		name   string
		keys   []string
		copied string
		said   string
	}{
		{"a file in Markdown", []string{"e"}, "/exports/ID.Markdown.false", "✓ Markdown written, asked the terminal to copy its path: /exports/ID.Markdown.false"},
		{"of the open detail", []string{"enter", "e"}, "/exports/ID.Markdown.false", "asked the terminal to copy its path: /exports/"},
		{"by the menu, its key twice", []string{"E", "E"}, "/exports/ID.Markdown.false", "asked the terminal to copy its path: /exports/"},
		{"a file in JSON", []string{"E", "j", "enter"}, "/exports/ID.JSON.false", "JSON written, asked the terminal to copy its path: /exports/"},
		{"by words", []string{":", "e", "x", "p", "o", "r", "t", "space", "j", "s", "o", "n", "enter"}, "/exports/ID.JSON.false", "JSON written"},
		{"with what is shown of the buyer", []string{"enter", "p", "e"}, "/exports/ID.Markdown.true", "! Markdown with the buyer's personal data written, asked the terminal to copy its path: /exports/"},
		{"and nothing of it once it is hidden", []string{"enter", "p", "p", "e"}, "/exports/ID.Markdown.false", "✓ Markdown written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 160, 45, exportsTo(nil))
			press(m, "l")
			in, ok := m.board.intentUnder()
			if !ok {
				t.Fatal("no intent under the cursor")
			}
			said := perform(m, press(m, c.keys...))
			want := terminalMsg(ansi.SetSystemClipboard(strings.ReplaceAll(c.copied, "ID", string(in.ID))))
			if len(said) != 2 || said[1] != want {
				t.Errorf("the terminal gets %q, want %q", said, want)
			}
			if got := screen(m); !strings.Contains(got, strings.ReplaceAll(c.said, "ID", string(in.ID))) {
				t.Errorf("no %q in\n%s", c.said, got)
			}
		})
	}
}

func TestTheBuyerOfAnIntentIsNotInAnExportFromAShipmentsDetail(t *testing.T) {
	s := typicalShop(time.Now())
	m := boardOf(t, s, 160, 45, exportsTo(nil))
	press(m, "2", "enter", "p")
	if said := perform(m, press(m, "e")); len(said) != 2 || strings.Contains(screen(m), "with the buyer") {
		t.Errorf("the terminal gets %q", said)
	}
}

func TestWhatCannotBeExportedIsSaid(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 160, 45)
	press(m, "l", "e")
	if got := screen(m); !strings.Contains(got, "nothing can be exported here") {
		t.Errorf("without an exporter:\n%s", got)
	}
	m = boardOf(t, typicalShop(time.Now()), 160, 45, exportsTo(errors.New("no space left on \x1b[2Jdevice")))
	if said := perform(m, press(m, "l", "e")); len(said) != 1 || !strings.Contains(screen(m), "! not exported: no space left on [2Jdevice") {
		t.Errorf("a full disk: %q\n%s", said, screen(m))
	}
	press(m, "3", "e")
	if got := screen(m); !strings.Contains(got, "no intent under the cursor") {
		t.Errorf("in the quota:\n%s", got)
	}
	if _, err := m.exporting.named("pdf"); err == nil {
		t.Error("any word is taken")
	}
}
