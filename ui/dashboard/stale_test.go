package dashboard

import (
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// TestWhatChangesIsDrawnAtOnce has parts of the picture change, each alone, between
// two seconds. Drawn again, the board must look as it did.
func TestWhatChangesIsDrawnAtOnce(t *testing.T) {
	cases := []struct {
		name   string
		change func(*account.Summary)
	}{
		{"when anything was read last", func(s *account.Summary) { s.LastRead = s.LastRead.Add(-time.Hour) }},
		{"how long intents stay in a state", func(s *account.Summary) {
			s.Pace = map[api.IntentState]account.Pace{api.PlacingOrder: {P95: time.Second, Count: 1000}}
		}},
		{"what the relay does", func(s *account.Summary) { s.Feed.State = account.FeedReplaying }},
		{"that there is an alert", func(s *account.Summary) {
			s.Alerts = []account.Alert{{Kind: account.AlertStuck, Text: "stuck", Intent: "ci_1", Since: s.LastRead}}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(time.Now())
			s.changes.Summary.Alerts = nil
			m := boardOf(t, s, 160, 45)
			before := screen(m)
			c.change(&s.changes.Summary)
			m.Update(changesMsg{account.Changes{Version: 2, Summary: s.changes.Summary}})
			got := screen(m)
			m.board.invalidate()
			if want := screen(m); got != want || got == before {
				t.Errorf("it shows\n%s\nand drawn again\n%s", got, want)
			}
		})
	}
}
