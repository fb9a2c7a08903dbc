package dashboard

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
)

// TestAFilterOutlivesTheTableItWasTypedOver types a filter, takes it back and
// changes the size in between: the pane goes from lanes to a list or back, and
// what arrives next has to find its way into both.
func TestAFilterOutlivesTheTableItWasTypedOver(t *testing.T) {
	wide, narrow := tea.WindowSizeMsg{Width: 160, Height: 45}, tea.WindowSizeMsg{Width: 80, Height: 24}
	cases := []struct {
		name  string
		steps []any // keys and sizes
		shown int   // after an intent more has arrived; 0: all
	}{
		{"kept, a detail opened, cleared and closed", []any{"/", "a", "enter", "enter", "esc", "esc"}, 0},
		{"set among the lanes, cleared in the list", []any{"/", "a", "enter", narrow, "esc", wide}, 0},
		{"set in the list, cleared among the lanes", []any{narrow, "/", "a", "enter", wide, "esc", narrow}, 0},
		{"emptied in the list", []any{"/", "a", narrow, "ctrl+u", wide}, 0},
		{"taken back in the list", []any{"/", "a", narrow, "esc", wide}, 0},
		{"still in force in the list", []any{"/", "wool", "enter", narrow}, 5},
		{"still in force among the lanes", []any{narrow, "/", "wool", "enter", wide}, 5},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(time.Now())
			m := boardOf(t, s, 160, 45)
			for _, step := range c.steps {
				switch step := step.(type) {
				case tea.WindowSizeMsg:
					m.Update(step)
				case string:
					if len(step) > 1 && step != "enter" && step != "esc" && step != "ctrl+u" {
						write(m, step)
						continue
					}
					press(m, step)
				}
				m.advance(time.Now())
			}
			fresh := s.intent(200, api.AwaitingConfirmation, time.Minute)
			m.Update(changesMsg{account.Changes{Version: 2, Intents: []*account.Intent{fresh}, Summary: s.changes.Summary}})
			want := c.shown
			if want == 0 {
				want = len(s.changes.Intents)
			}
			for _, size := range []tea.WindowSizeMsg{wide, narrow} {
				m.Update(size)
				m.View()
				if shown, total := m.board.intents.Matches(); shown != want || total != len(s.changes.Intents) {
					t.Errorf("at %dx%d it shows %d of %d, want %d of %d", size.Width, size.Height, shown, total, want, len(s.changes.Intents))
				}
			}
		})
	}
}
