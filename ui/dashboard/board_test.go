package dashboard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/action/actiontest"
)

// board is a model with the picture of a shop on a screen of a size.
func boardOf(t testing.TB, s *shop, width, height int, change ...func(*Config)) *Model {
	t.Helper()
	theme, err := themes.Find("dark")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Source: s, Environment: "staging", Account: "shop-eu", Theme: theme, Location: time.UTC, Refresh: func(api.ID) {}, Reconnect: func() {}}
	for _, c := range change {
		c(&cfg)
	}
	m := New(cfg)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(changesMsg{s.Changes(0)})
	return m
}

// screen is what the model shows, without colours.
func screen(m *Model) string {
	lines := strings.Split(ansi.Strip(drawing(m)), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \u00a0")
	}
	return strings.Join(lines, "\n") + "\n"
}

// styles is where which style begins on each line: its column and the parameters
// of its SGR sequence.
func styles(m *Model) string {
	var b strings.Builder
	for line := range strings.SplitSeq(drawing(m), "\n") {
		column := 0
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				parameters, after, _ := strings.Cut(rest, "m")
				fmt.Fprintf(&b, "%d[%s]", column, parameters)
				line = after
				continue
			}
			text, rest, _ := strings.Cut(line, "\x1b")
			if rest != "" {
				rest = "\x1b" + rest
			}
			if strings.HasPrefix(line, "\x1b]8;;") { // a hyperlink
				_, rest, _ = strings.Cut(line, "\x1b\\")
				text = ""
				b.WriteString("@")
			}
			column += ansi.StringWidth(text)
			line = rest
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// press sends keys by name, "a", "enter", "shift+tab", "G", and draws after each
// as the program does.
func press(m *Model, names ...string) tea.Cmd {
	var last tea.Cmd
	for _, name := range names {
		_, last = m.Update(actiontest.Press(name))
		m.View()
	}
	return last
}

func TestTheBoardLooksAsItShould(t *testing.T) {
	lost := func(s *shop) {
		s.changes.Summary.Feed = account.FeedStatus{State: account.FeedLost, Since: s.now.Add(-12 * time.Second),
			RetryAt: s.now.Add(18 * time.Second), Err: errors.New("dial tcp: connection \x1b[31mrefused")}
	}
	silent := func(s *shop) {
		lost(s)
		s.changes.Summary.API = account.APIStatus{State: account.APIFailing, Since: s.now.Add(-20 * time.Second), Err: errors.New("reading an intent: 500")}
	}
	cases := []struct {
		name  string
		shop  func(time.Time) *shop
		with  func(*shop)
		after func(*Model)
	}{
		{"typical", typicalShop, nil, nil},
		{"empty", newShop, nil, nil},
		{"lost", typicalShop, lost, nil},
		{"silent", newShop, silent, nil},
		{"unauthorized", newShop, func(s *shop) { s.changes.Summary.API = account.APIStatus{State: account.APIUnauthorized} }, nil},
		{"frozen", typicalShop, nil, func(m *Model) {
			press(m, "space")
			s := m.cfg.Source.(*shop)
			s.event(3, api.IntentCompleted, 0)
			m.Update(changesMsg{s.Changes(0)})
		}},
		{"requests", typicalShop, nil, func(m *Model) { press(m, "5") }},
		{"request", typicalShop, nil, func(m *Model) { press(m, "5", "k", "k", "k", "enter") }},
		{"alerts", typicalShop, nil, func(m *Model) { press(m, "6") }},
		{"well", newShop, nil, func(m *Model) { press(m, "6") }},
		{"filter", typicalShop, nil, func(m *Model) { press(m, "/"); write(m, "state:failed age>10m") }},
		{"misspelt", typicalShop, nil, func(m *Model) { press(m, "/"); write(m, "mug staet:failed") }},
		{"marked", typicalShop, nil, func(m *Model) { press(m, "x", "j", "j", "x") }},
		{"quota", typicalShop, nil, func(m *Model) { press(m, "3", "z") }},
		{"shipments", typicalShop, nil, func(m *Model) { press(m, "2", "z") }},
		{"tail", typicalShop, nil, func(m *Model) { press(m, "4", "z") }},
		{"intents zoomed", typicalShop, nil, func(m *Model) { press(m, "z") }},
		{"without panes", typicalShop, nil, func(m *Model) { press(m, "alt+2", "alt+4") }},
		{"shipment", typicalShop, nil, func(m *Model) { press(m, "2", "enter") }},
		{"event", typicalShop, nil, func(m *Model) { press(m, "4", "enter") }},
		{"failed", typicalShop, nil, func(m *Model) { press(m, "l", "l", "l", "enter", "G") }},
		{"held tail", typicalShop, nil, func(m *Model) { press(m, "4", "k", "k") }},
		{"sorted", typicalShop, nil, func(m *Model) { press(m, "s", "s") }},
		{"detail", typicalShop, nil, func(m *Model) { press(m, "l", "l", "l", "j", "enter") }},
	}
	for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}, {40, 12}} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				var text, colours string
				synctest.Test(t, func(t *testing.T) {
					s := c.shop(time.Now())
					if c.with != nil {
						c.with(s)
					}
					m := boardOf(t, s, size[0], size[1])
					m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
					if c.after != nil {
						c.after(m)
					}
					text, colours = screen(m), styles(m)
					plain := boardOf(t, s, size[0], size[1], func(c *Config) { c.NoColor = true })
					if c.after != nil && c.name != "frozen" {
						c.after(plain)
						if got := screen(plain); got != text {
							t.Errorf("without colours it is another picture:\n%s\nwant\n%s", got, text)
						}
					}
				})
				golden.RequireEqual(t, text)
				t.Run("colours", func(t *testing.T) { golden.RequireEqual(t, colours) })
			})
		}
	}
}

func TestBeforeTheFirstPictureTheBoardSaysSo(t *testing.T) {
	m := New(Config{Source: newShop(time.Now())})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if got := screen(m); !strings.Contains(got, "starting…") || !strings.Contains(got, "INTENTS") {
		t.Errorf("screen before the first picture:\n%s", got)
	}
}

func TestASizeThatNoScreenHasIsNotDrawn(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 3000, 3000) // a pseudo-terminal may claim 65535 either way
	if lines := m.lines(); len(lines) != 1000 || ansi.StringWidth(lines[0]) > 1000 {
		t.Errorf("%d lines, the first of %d cells", len(lines), ansi.StringWidth(lines[0]))
	}
}

func TestATerminalThatIsTooSmallSaysWhatIsNeeded(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 30, 8)
	got := strings.Join(strings.Fields(screen(m)), " ")
	if got != "tillwatch needs 40×12 cells, this terminal has 30×8" {
		t.Errorf("screen: %q", got)
	}
}

func TestNoColorIsReadable(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) { c.NoColor = true })
	content := drawing(m)
	if strings.Contains(content, "38;") || strings.Contains(content, "48;") {
		t.Error("a colour is drawn")
	}
	if !strings.Contains(content, "\x1b[0;7m") {
		t.Error("the row under the cursor does not stand out")
	}
	colours := boardOf(t, typicalShop(time.Now()), 120, 36)
	if got, want := screen(m), screen(colours); strings.Count(got, "◆") != strings.Count(want, "◆") {
		t.Error("the glyphs differ without colours")
	}
}
