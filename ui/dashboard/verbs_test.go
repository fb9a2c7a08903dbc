package dashboard

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
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
		{"a theme", "theme nrd", "theme takes default, dark, light"},
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
			if len(m.preferences.Ran) > 0 || m.themes.chosen.Name != theme {
				t.Errorf("remembered %q, theme %s", m.preferences.Ran, m.themes.chosen.Name)
			}
		})
	}
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	said(m, "theme nrd", "enter", "backspace", "backspace", "o", "tab", "enter")
	if m.dialog.open() || m.themes.chosen.Name != "nord" {
		t.Errorf("mended, it is theme %s:\n%s", m.themes.chosen.Name, screen(m))
	}
}

func TestThePaletteRemembersWhatItRan(t *testing.T) {
	m, last := remembering(t, 120, 36, Layout{Acquainted: true})
	for _, line := range []string{"theme nord", "zoom pane", "filter total>5", "theme nord"} {
		said(m, line, "enter")
	}
	if want := []string{"theme nord", "filter total>5", "Zoom pane"}; !slices.Equal(last.Ran, want) {
		t.Fatalf("remembered %q, want %q", last.Ran, want)
	}
	m, last = remembering(t, 120, 36, *last) // the next run
	said(m, "", "up")
	for _, step := range []struct{ key, want string }{{"up", ": theme nord▏"}, {"up", ": filter total>5▏"}, {"up", ": Zoom pane▏"}, {"down", ": Zoom pane▏"}, {"down", ": filter total>5▏"}, {"down", ": theme nord▏"}, {"down", ": ▏"}} {
		if got := screen(m); !strings.Contains(got, step.want) {
			t.Fatalf("not %q:\n%s", step.want, got)
		}
		press(m, step.key)
	}
	press(m, "esc")
	said(m, "", "up", "up", "enter")
	if f := m.filters.inPane[layout.Intents]; f == nil || f.Text != "total>5" {
		t.Errorf("a recalled filter is %+v", f)
	}
	if want := []string{"filter total>5", "theme nord", "Zoom pane"}; !slices.Equal(last.Ran, want) {
		t.Errorf("remembered %q, want %q", last.Ran, want)
	}
}

func TestThePaletteBeginsWithWhatRanLast(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	said(m, "help", "enter")
	press(m, "esc")
	said(m, "filter wool", "enter")
	said(m, "")
	got := screen(m)
	filter, help, open := strings.Index(got, "▸ filter TEXT"), strings.Index(got, "  Help "), strings.Index(got, "  Open detail")
	if filter < 0 || help < filter || open < help {
		t.Errorf("filter at %d, help at %d, the rest at %d:\n%s", filter, help, open, got)
	}
}

func TestThePaletteRemembersNoBuyerAndNoKeyAndOnlySoMuch(t *testing.T) {
	m, last := remembering(t, 120, 36, Layout{Ran: []string{"a\x1b[31mb", strings.Repeat("x", longestRan+1), "", "a"}})
	said(m, "filter ann@buyer.example", "enter")
	said(m, "filter tok_live_0123456789abcdef012345", "enter")
	said(m, "at filter:tok_live_0123456789abcdef012345", "enter")
	said(m, "filter tok_live_0123456789abcdef012345", "enter")
	for _, line := range last.Ran {
		if strings.ContainsAny(line, "@\x1b") || strings.Contains(line, "tok_") || len(line) > longestRan {
			t.Errorf("remembered %q", line)
		}
	}
	if last.Ran[0] != "filter" {
		t.Errorf("remembered %q, want the verb without its words", last.Ran)
	}
	for i := range 3 * mostRan {
		m.preferences.ran("filter " + strings.Repeat("x", 1+i%100))
	}
	if len(last.Ran) != mostRan {
		t.Errorf("remembered %d lines, want %d", len(last.Ran), mostRan)
	}
}

func TestAFilterOfThePaletteIsTakenAway(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	said(m, "filter wool", "enter")
	if m.filters.inPane[layout.Intents] == (*pane.Filter)(nil) {
		t.Fatal("no filter")
	}
	said(m, "filter ", "enter")
	if m.filters.inPane[layout.Intents] != nil || m.dialog.open() {
		t.Errorf("the filter stays:\n%s", screen(m))
	}
}
