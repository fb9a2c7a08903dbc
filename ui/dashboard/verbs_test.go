package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/layout"
)

// said opens the palette and types into it.
func said(m *Model, text string, keys ...string) tea.Cmd {
	press(m, ":")
	press(m, actiontest.Typed(text)...)
	return press(m, keys...)
}

func TestVerbsTakeTheWordsBehindThem(t *testing.T) {
	now := time.Now()
	cases := []struct {
		name, typed string
		holds       func(*Model) bool
	}{
		{"a theme", "theme nord", func(m *Model) bool { return m.themes.chosen.Name == "nord" }},
		{"a theme by its beginning", "theme no", func(m *Model) bool { return m.themes.chosen.Name == "nord" }},
		{"a filter", "filter state:failed", func(m *Model) bool { return m.filters.inPane[layout.Intents].Text == "state:failed" }},
		{"an order", "sort total", func(m *Model) bool { return strings.Contains(screen(m), "sorted by total") }},
		{"an id", "i " + string(newShop(now).id(5)), func(m *Model) bool { return m.board.detailOpen }},
		{"a position", "at intent:" + string(newShop(now).id(5)), func(m *Model) bool { return m.board.detailOpen }},
		{"an action by its short name", "quota", func(m *Model) bool { return m.board.quotaWhole() }},
		{"a view that has the screen already", "quota", func(m *Model) bool {
			said(m, "quota", "enter")
			return m.board.quotaWhole() && !m.dialog.open()
		}},
		{"in capitals", "THEME Nord", func(m *Model) bool { return m.themes.chosen.Name == "nord" }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(now), 120, 36)
			said(m, c.typed, "enter")
			if m.dialog.open() || !c.holds(m) {
				t.Errorf("%q is not done:\n%s", c.typed, screen(m))
			}
		})
	}
}

func TestWrongWordsAreSaidWithWhatIsPossibleAndStay(t *testing.T) {
	cases := []struct{ name, typed, want string }{
		{"a theme", "theme nrd", "theme takes auto, default, dark, light"},
		{"no theme", "theme ", "and one is needed"},
		{"an order", "sort colour", "sort takes urgency, age, total, product, merchant; not"},
		{"a filter", "filter total>x", "total"},
		{"an id", "i nothing", "nothing is not known here"},
		{"a position", "at door:7", "a position is intent:ID, shipment:ID, event:ID"},
		{"what is not possible now", "relay reconnect", "the relay is connected already"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) { c.Remember = func(Layout) {} })
			theme := m.themes.chosen.Name
			said(m, c.typed, "enter")
			got := screen(m)
			if !m.dialog.open() || !strings.Contains(got, "No: ") || !strings.Contains(got, c.want) || !strings.Contains(got, strings.TrimSpace(c.typed)+"▏") && !strings.Contains(got, c.typed+"▏") {
				t.Errorf("%q should say %q and stay:\n%s", c.typed, c.want, got)
			}
			if m.themes.chosen.Name != theme {
				t.Errorf("theme %s", m.themes.chosen.Name)
			}
		})
	}
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	said(m, "theme nrd", "enter", "backspace", "backspace", "o", "tab", "enter")
	if m.dialog.open() || m.themes.chosen.Name != "nord" {
		t.Errorf("mended, it is theme %s:\n%s", m.themes.chosen.Name, screen(m))
	}
}
