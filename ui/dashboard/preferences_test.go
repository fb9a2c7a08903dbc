package dashboard

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/layout"
)

// remembering is a board with what it has last told to remember.
func remembering(t *testing.T, width, height int, from Layout) (*Model, *Layout) {
	t.Helper()
	last := &Layout{}
	m := boardOf(t, typicalShop(time.Now()), width, height, func(c *Config) {
		c.Remembered, c.Remember = from, func(l Layout) { *last = l }
	})
	return m, last
}

func TestHowTheScreenIsArrangedIsRemembered(t *testing.T) {
	acquainted := Layout{Acquainted: true}
	cases := []struct {
		name string
		keys string
		want Layout
	}{
		{"a pane by its key", "alt+2", Layout{Hidden: []string{"shipments"}}},
		{"a pane and back", "alt+2 alt+2", Layout{Hidden: []string{}}},
		{"a hidden pane that gets the focus", "alt+3 3", Layout{Hidden: []string{}}},
		{"a tab of hidden ones that gets the focus", "alt+4 5", Layout{Hidden: []string{}}},
		{"the theme", "t", Layout{Theme: "light"}},
		{"the mouse", "m", Layout{NoMouse: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, last := remembering(t, 200, 55, acquainted)
				press(m, strings.Fields(c.keys)...)
				c.want.Acquainted = true
				if !reflect.DeepEqual(*last, c.want) {
					t.Errorf("remembered %+v, want %+v", *last, c.want)
				}
				again, _ := remembering(t, 200, 55, *last)
				press(m, "esc")
				m.notices.toast, m.redraw = toast{}, true
				again.board.setFocus(m.board.focus)
				if got, want := screen(again), screen(m); got != want {
					t.Errorf("it comes back as\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

func TestTheLastPaneStays(t *testing.T) {
	m, last := remembering(t, 120, 36, Layout{Acquainted: true})
	press(m, "alt+1", "alt+2", "alt+3", "alt+4")
	if want := []string{"intents", "shipments", "quota"}; !slices.Equal(last.Hidden, want) {
		t.Errorf("hidden are %v, want %v", last.Hidden, want)
	}
	if got := screen(m); !strings.Contains(got, "only pane left") || !strings.Contains(got, "EVENTS") || strings.Contains(got, "INTENTS") {
		t.Errorf("screen:\n%s", got)
	}
}

func TestTheFocusLeavesAHiddenPane(t *testing.T) {
	m, _ := remembering(t, 120, 36, Layout{Acquainted: true})
	press(m, "2", "alt+2")
	if m.board.focus == layout.Shipments || m.board.layout.Panes[m.board.focus].Empty() {
		t.Errorf("the focus is on pane %s", m.board.focus)
	}
	for range 6 {
		press(m, "tab")
		if m.board.focus == layout.Shipments {
			t.Error("tab gives the focus to a hidden pane")
		}
	}
}

func TestWhatIsRememberedAndMeansNothingIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := remembering(t, 120, 36, Layout{Acquainted: true, Hidden: []string{"moon"}, Theme: "none such"})
		plain, _ := remembering(t, 120, 36, Layout{Acquainted: true})
		if got, want := screen(m), screen(plain); got != want {
			t.Errorf("screen:\n%s\nwant\n%s", got, want)
		}
	})
}

func TestTheThemeGoesBackToTheConfiguredOne(t *testing.T) {
	light, err := themes.Find("light")
	if err != nil {
		t.Fatal(err)
	}
	m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) { c.Remembered, c.LightTheme = Layout{Theme: "default"}, &light })
	if m.themes.chosen.Name != "default" {
		t.Fatalf("theme %q", m.themes.chosen.Name)
	}
	m.themes.lightGround = true
	press(m, ":")
	write(m, "theme auto")
	press(m, "enter")
	if m.themes.chosen.Name != "light" {
		t.Errorf("as configured is %q on a light ground", m.themes.chosen.Name)
	}
}

func TestHintsForAFirstRunGoAwayAndAreRemembered(t *testing.T) {
	const hint = "New here?"
	m, last := remembering(t, 120, 36, Layout{})
	if got := screen(m); !strings.Contains(got, hint) {
		t.Fatalf("no hint at first:\n%s", got)
	}
	press(m, "j", "k", "tab", "j")
	if !strings.Contains(screen(m), hint) || last.Acquainted {
		t.Error("the hint is gone too soon")
	}
	press(m, "k")
	if strings.Contains(screen(m), hint) || !last.Acquainted {
		t.Error("the hint stays")
	}
	m, last = remembering(t, 120, 36, Layout{})
	press(m, "?", "esc")
	if strings.Contains(screen(m), hint) || !last.Acquainted {
		t.Error("the hint stays after the help")
	}
	if got := screen(boardOf(t, typicalShop(time.Now()), 120, 36)); strings.Contains(got, hint) {
		t.Error("there is a hint where nothing is remembered")
	}
}

func TestAWarningIsSaidAtTheStart(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) { c.Warning = "what was remembered is unreadable" })
	if got := screen(m); !strings.Contains(got, "! what was remembered is unreadable") {
		t.Errorf("screen:\n%s", got)
	}
}

func TestARememberedLayoutWithoutAnyPaneShowsAll(t *testing.T) {
	m, _ := remembering(t, 160, 45, Layout{Hidden: []string{"intents", "shipments", "quota", "events"}})
	text := screen(m)
	for _, title := range []string{"INTENTS", "SHIPMENTS", "QUOTA", "EVENTS"} {
		if !strings.Contains(text, title) {
			t.Errorf("without %s:\n%s", title, text)
		}
	}
}
