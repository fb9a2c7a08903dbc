package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/ui/dashboard/layout"
)

func TestAFilterIsKeptUnderANameAndFoundAgain(t *testing.T) {
	m, last := remembering(t, 120, 36, Layout{Acquainted: true})
	press(m, "2", "/")
	write(m, "status:delayed")
	press(m, "enter")
	said(m, "save late", "enter")
	if want := []NamedFilter{{"late", "shipments", "status:delayed"}}; !slices.Equal(last.Filters, want) || !strings.Contains(screen(m), "late is saved: / status:delayed") {
		t.Fatalf("kept %v, want %v:\n%s", last.Filters, want, screen(m))
	}
	m, last = remembering(t, 120, 36, *last) // the next run
	if said(m, "late"); !strings.Contains(screen(m), "▸ late / status:delayed") {
		t.Errorf("the palette does not list it with its text:\n%s", screen(m))
	}
	press(m, "enter") // the sixth key
	if f := m.filters.inPane[layout.Shipments]; f == nil || f.Text != "status:delayed" || m.board.focus != layout.Shipments || m.dialog.open() {
		t.Fatalf("after its name, %v has the focus and the filter is %v", m.board.focus, f)
	}
	press(m, "/", "ctrl+u")
	write(m, "status:delayed,canceled")
	press(m, "enter")
	said(m, "save late", "enter")
	if got := screen(m); !strings.Contains(got, "late is replaced: / status:delayed,canceled, it was / status:delayed") || len(last.Filters) != 1 {
		t.Errorf("it does not say what it replaced:\n%s", got)
	}
	said(m, "forget late", "enter")
	if len(last.Filters) > 0 || !strings.Contains(screen(m), "forgotten: late, / status:delayed,canceled") {
		t.Errorf("%v are kept after it was forgotten:\n%s", last.Filters, screen(m))
	}
	if said(m, "late"); strings.Contains(screen(m), "late /") {
		t.Errorf("the palette still lists it:\n%s", screen(m))
	}
}

func TestWhatCannotBeKeptOrForgottenIsSaid(t *testing.T) {
	many := Layout{Acquainted: true}
	for i := range mostNamed + 7 {
		many.Filters = append(many.Filters, NamedFilter{fmt.Sprintf("f%d", i), "intents", "wool"})
	}
	cases := []struct {
		name, filter, typed, want string
		from                      Layout
	}{
		{"no filter", "", "save late", "this pane has no filter to save: / types one", Layout{}},
		{"two words", "wool", "save very late", "a name is one word", Layout{}},
		{"no name", "wool", "save ", "a name is one word", Layout{}},
		{"a long name", "wool", "save " + strings.Repeat("x", 25), "a name is one word", Layout{}},
		{"a word of the palette", "wool", "save Theme", "Theme means something else in the palette", Layout{}},
		{"an action", "wool", "save quit", "quit means something else in the palette", Layout{}},
		{"too many", "wool", "save one-more", "50 filters are saved", many},
		{"forgetting none", "", "forget late", "no filter is saved", Layout{}},
		{"forgetting another", "", "forget late", "no filter is called late; there are wool", Layout{Filters: []NamedFilter{{"wool", "intents", "wool"}}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, last := remembering(t, 120, 36, c.from)
			if c.filter != "" {
				said(m, "filter "+c.filter, "enter")
			}
			said(m, c.typed, "enter")
			if got := screen(m); !m.dialog.open() || !strings.Contains(got, c.want) {
				t.Errorf("%q should say %q:\n%s", c.typed, c.want, got)
			}
			if len(last.Filters) > mostNamed {
				t.Errorf("%d filters are kept, want at most %d", len(last.Filters), mostNamed)
			}
		})
	}
}

func TestSavedFiltersThatAreNotShownAreSaidAtTheStart(t *testing.T) {
	for _, c := range []struct {
		name  string
		saved int
		want  bool
	}{{"as many as are shown", mostNamed, false}, {"seven more", mostNamed + 7, true}} {
		t.Run(c.name, func(t *testing.T) {
			from := Layout{Acquainted: true, Filters: []NamedFilter{{"nowhere", "attic", "x"}}}
			for i := range c.saved {
				from.Filters = append(from.Filters, NamedFilter{fmt.Sprintf("f%d", i), "intents", "wool"})
			}
			m, _ := remembering(t, 120, 36, from)
			if got := screen(m); strings.Contains(got, "57 filters are saved, and 50 shown: forget some to see the others") != c.want {
				t.Errorf("screen:\n%s", got)
			}
			last := fmt.Sprintf("f%d", c.saved-1)
			if f, _ := IntentFilter(last, from.Filters); f == nil || f.Text != "wool" {
				t.Errorf("a command takes %s for %+v", last, f)
			}
		})
	}
}

func TestAKeptFilterThatMeansNothingIsLeftOut(t *testing.T) {
	from := []NamedFilter{{"good", "intents", "wool"}, {"good", "intents", "twice"}, {"a b", "intents", "x"}, {"nowhere", "attic", "x"}, {"empty", "intents", ""},
		{"long", "intents", strings.Repeat("x", longestFilter+1)}, {"scrubbed", "events", "a\x1b[31mb"}}
	m, _ := remembering(t, 120, 36, Layout{Filters: from})
	if got := m.preferences.filterNames(); !slices.Equal(got, []string{"good", "scrubbed"}) || strings.Contains(m.preferences.Filters[1].Text, "\x1b") {
		t.Errorf("kept %v", m.preferences.Filters)
	}
}

func TestTheBoardBeginsWithAFilter(t *testing.T) {
	kept := Layout{Filters: []NamedFilter{{"late", "shipments", "status:delayed"}}}
	cases := []struct {
		name, filter string
		pane         layout.Pane
		text         string
	}{
		{"a text", "merchant:acme", layout.Intents, "merchant:acme"},
		{"a name", "late", layout.Shipments, "status:delayed"},
		{"a word that is no name", "wool", layout.Intents, "wool"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := boardOf(t, typicalShop(time.Now()), 120, 36, func(cfg *Config) { cfg.Filter, cfg.Remembered = c.filter, kept })
			if f := m.filters.inPane[c.pane]; f == nil || f.Text != c.text || m.board.focus != c.pane {
				t.Errorf("%v has the focus, its filter is %v, want %s", m.board.focus, f, c.text)
			}
			if shown, total := m.board.panes[c.pane].(filtered).Matches(); shown == 0 || shown == total {
				t.Errorf("%d of %d are shown", shown, total)
			}
		})
	}
	m := boardOf(t, typicalShop(time.Now()), 120, 36, func(cfg *Config) { cfg.Filter = "/[/" })
	if got := screen(m); !strings.Contains(got, "the filter /[/ is not applied: /[/: missing closing ]") {
		t.Errorf("a broken one is not said:\n%s", got)
	}
}
