package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestANarrowFooterNamesTheWayBack(t *testing.T) {
	for name, keys := range map[string][]string{
		"a zoomed pane": {"4", "z"}, "intents, zoomed": {"1", "z"}, "failures": {"F"}, "pulse": {"P"}, "usage": {"u"}, "a detail": {"enter"}, "requests, zoomed": {"5", "z"},
	} {
		for _, armed := range []bool{false, true} {
			m := boardOf(t, typicalShop(time.Now()), 40, 12, func(c *Config) { c.Armed, c.Confirmer = armed, &till{} })
			press(m, keys...)
			for width := 40; width <= 80; width++ {
				m.Update(tea.WindowSizeMsg{Width: width, Height: 12})
				if got := screen(m); !inOrder(got, "esc back", "? help", "q quit") {
					t.Fatalf("%s, armed %t, %d columns:\n%s", name, armed, width, got)
				}
			}
		}
	}
}

func TestTheFooterNamesOnlyWhatWorksThere(t *testing.T) {
	for _, view := range []struct {
		name  string
		keys  []string
		names []string // among others
		not   []string
	}{
		{"a zoomed pane", []string{"4", "z"}, []string{"esc back", "z zoom"}, nil},
		{"the board", nil, []string{"tab pane"}, []string{"esc back"}},
		{"failures", []string{"F"}, []string{"esc back", "enter open", "F failures", "w span", "s sort"}, []string{"c confirm", "x mark", "r read", "/ filter", "z zoom", "y copy"}},
		{"pulse", []string{"P"}, []string{"esc back", "P pulse", "w span"}, []string{"z zoom", "c confirm", "x mark", "r read", "/ filter", "s sort", "enter open", "y copy"}},
		{"quota", []string{"u"}, []string{"esc back", "u usage", "/ filter", "w span"}, []string{"c confirm", "x mark", "r read", "y copy"}},
		{"the quota among other panes", []string{"3"}, []string{"s sort", "z zoom"}, []string{"enter open", "c confirm", "x mark"}},
		{"shipments", []string{"2"}, []string{"enter open", "r read", "y copy"}, []string{"c confirm", "x mark"}},
		{"a shipment", []string{"2", "enter"}, []string{"r read", "y copy"}, []string{"c confirm"}},
		{"an intent that awaits", []string{"enter"}, []string{"c confirm"}, nil},
		{"an intent that is completed", []string{"l", "l", "enter"}, []string{"r read", "y copy"}, []string{"c confirm"}},
		{"an intent that has failed", []string{"l", "l", "l", "enter"}, []string{"r read", "y copy"}, []string{"c confirm"}},
		{"requests", []string{"5"}, []string{"enter open", "y copy"}, []string{"c confirm", "x mark", "r read", "w span"}},
		{"orders", []string{"O"}, []string{"enter open", "x mark", "c confirm"}, []string{"w span", "F failures", "d acknowledge", "M mute"}},
		{"alerts", []string{"6"}, []string{"enter open", "d acknowledge", "M mute"}, []string{"w span"}},
	} {
		named := func(m *Model) string {
			lines := strings.Split(strings.TrimRight(screen(m), "\n"), "\n")
			return lines[m.board.layout.Footer.Y]
		}
		m := boardOf(t, typicalShop(time.Now()), 240, 55, func(c *Config) { c.Armed, c.Confirmer = true, &till{} })
		press(m, view.keys...)
		got := named(m)
		for _, want := range view.names {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", view.name, want, got)
			}
		}
		for _, unwanted := range view.not {
			if strings.Contains(got, " "+unwanted) {
				t.Errorf("%s: %q in %q", view.name, unwanted, got)
			}
		}
	}
}
