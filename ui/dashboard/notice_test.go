package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/account"
)

func TestTheAlertThatIsShownIsTheOneToActOnFirst(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 2, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	due := func(text string, in time.Duration) account.Alert {
		return account.Alert{Kind: account.AlertExpiring, Text: text, Since: ago(time.Minute), Due: now.Add(in)}
	}
	awaits := func(text string, since time.Duration) account.Alert {
		return account.Alert{Kind: account.AlertAwaiting, Text: text, Since: ago(since)}
	}
	failed := func(text string, since time.Duration) account.Alert {
		return account.Alert{Kind: account.AlertFailed, Text: text, Since: ago(since)}
	}
	for _, c := range []struct {
		name   string
		alerts []account.Alert
		want   string
	}{
		{"one that expires soon before one that failed", []account.Alert{failed("failed", 0), due("soon", time.Minute)}, "soon"},
		{"the next of several that expire soon", []account.Alert{due("soon", 90*time.Second), due("sooner", time.Minute)}, "sooner"},
		{"one whose window has just ended", []account.Alert{due("soon", time.Minute), due("over", -time.Second)}, "over"},
		{"one that failed before one that expires later", []account.Alert{due("later", 9*time.Minute), failed("failed", time.Minute)}, "failed"},
		{"the newest of what has come about", []account.Alert{failed("older", time.Hour), failed("newer", time.Minute)}, "newer"},
		{"one that expires later before one that waits", []account.Alert{awaits("waits", 0), due("later", 9*time.Minute)}, "later"},
		{"a spent day before one that expires soon", []account.Alert{due("soon", time.Minute), {Kind: account.AlertDay, Text: "spent", Since: ago(time.Hour), Due: now.Add(time.Hour)}}, "spent"},
		{"one that expires soon before a day that is nearly spent", []account.Alert{{Kind: account.AlertDay, Text: "near", Since: ago(0)}, due("soon", time.Minute)}, "soon"},
		{"one that waits, and nothing else", []account.Alert{awaits("longer", time.Hour), awaits("waits", time.Minute)}, "waits"},
	} {
		if got := pressing(c.alerts, now).Text; got != c.want {
			t.Errorf("%s: %q is shown, want %q", c.name, got, c.want)
		}
	}
}

func TestASpentDayIsOnTheLineWithSinceWhenAndByWhenTheFirstIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := typicalShop(now)
		s.changes.Summary.Alerts = append(s.changes.Summary.Alerts,
			account.Alert{Kind: account.AlertExpiring, Text: "Desk Lamp expires", Since: now, Due: now.Add(time.Second)},
			account.Alert{Kind: account.AlertDay, Text: "24 h limit of 2000 (assumed) reached: first slot back", Since: now.Add(-90 * time.Minute), Due: now.Add(11*time.Hour + 50*time.Minute)})
		for width, want := range map[int]string{
			200: "⚑ 24 h limit of 2000 (assumed) reached: first slot back by 11:50 · since 22:30 · and 3 more",
			120: "⚑ 24 h limit of 2000 (assumed) reached: first slot back by 11:50 · since 22:30 · and 3 more",
			80:  "⚑ 24 h limit of 2000 (assumed) reached: first slot back by 11:50 · since 22:30",
		} {
			if got := screen(boardOf(t, s, width, 40)); !strings.Contains(got, want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, got)
			}
		}
	})
}

func TestABoardThatStaysEmptySaysWhatCanBeDone(t *testing.T) {
	const why = "nothing tells which intents there are: no relay is configured, and the service serves no list of them"
	for _, c := range []struct {
		name  string
		empty bool
		feed  account.FeedState
		list  account.ListState
		says  bool
	}{
		{"no relay and no list", true, account.FeedOff, account.ListNotServed, true},
		{"no relay and a list that is not read yet", true, account.FeedOff, account.ListUnread, false},
		{"no relay and an empty list", true, account.FeedOff, account.ListWhole, false},
		{"a relay", true, account.FeedLive, account.ListNotServed, false},
		{"intents that a person named", false, account.FeedOff, account.ListNotServed, false},
	} {
		for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(time.Now())
				if !c.empty {
					s = typicalShop(time.Now())
				}
				s.changes.Summary.Feed.State, s.changes.Summary.List.State = c.feed, c.list
				got := strings.Join(strings.Fields(screen(boardOf(t, s, size[0], size[1]))), " ")
				for _, want := range []string{why, "--relay-url", "--watch-id", "--watch-ids", "press i and give an id"} {
					if strings.Contains(got, want) != c.says {
						t.Errorf("%s, %v: %q is there: %v\n%s", c.name, size, want, !c.says, got)
					}
				}
			})
		}
	}
}

func TestWhatIsWrongOutranksTheGreeting(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(*account.Summary)
		want string // "" for the greeting
	}{
		{"a refused key", func(s *account.Summary) { s.API.State = account.APIUnauthorized }, "✕ the service refuses the API key — check TILLWATCH_API_KEY"},
		{"a failing service", func(s *account.Summary) { s.API.State = account.APIFailing }, "✕ the service has been failing"},
		{"a lost relay", func(s *account.Summary) { s.Feed.State = account.FeedLost }, "✕ relay lost"},
		{"a relay that refuses the token", func(s *account.Summary) { s.Feed.State = account.FeedRefused }, "✕ the relay refuses this dashboard — check TILLWATCH_RELAY_TOKEN"},
		{"neither answers", func(s *account.Summary) { s.API.State, s.Feed.State = account.APIFailing, account.FeedLost }, "✕ neither the service nor the relay has answered"},
		{"alerts alone", func(*account.Summary) {}, ""},
		{"a relay that is dialled", func(s *account.Summary) { s.Feed.State = account.FeedConnecting }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(time.Now())
			c.harm(&s.changes.Summary)
			line := func() string {
				m := boardOf(t, s, 120, 36, func(c *Config) { c.Remember = func(Layout) {} })
				return strings.Split(screen(m), "\n")[1]
			}
			const greeting = "New here?"
			if got := line(); !strings.Contains(got, c.want) || strings.Contains(got, greeting) != (c.want == "") {
				t.Errorf("somebody who is new here reads %q, want %q", got, c.want)
			}
		})
	}
}

func TestPanesSayAtOnceThatTheHealthHasChanged(t *testing.T) {
	s := newShop(time.Now())
	s.changes.Summary.Feed = account.FeedStatus{State: account.FeedOff}
	m := boardOf(t, s, 160, 45)
	if got := screen(m); !strings.Contains(got, "no relay is configured") {
		t.Fatalf("without a relay:\n%s", got)
	}
	s.changes.Summary.Feed = account.FeedStatus{State: account.FeedLive}
	m.Update(changesMsg{account.Changes{Version: 2, Summary: s.changes.Summary}})
	if got := screen(m); strings.Contains(got, "no relay is configured") || !strings.Contains(got, "waiting for the first event…") {
		t.Errorf("with one:\n%s", got)
	}
}
