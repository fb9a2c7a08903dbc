package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
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

func TestTheAgeOfAnAlertIsNotTakenForTheTimeThatIsLeft(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 2, 0, 0, time.UTC)
	alert := func(kind account.AlertKind, text string, due time.Time) account.Alert {
		return account.Alert{Kind: kind, Text: text, Since: now.Add(-14 * time.Second), Due: due}
	}
	expiring := alert(account.AlertExpiring, "Salmon Treats, 8 oz expires unless it is confirmed", now.Add(time.Minute))
	failed := alert(account.AlertFailed, "Desk Lamp failed: out of stock", time.Time{})
	for _, c := range []struct {
		name   string
		width  int
		alerts []account.Alert
		want   string
	}{
		{"one", 120, []account.Alert{expiring}, "⚑ Salmon Treats, 8 oz expires unless it is confirmed within 1m · raised 14s ago"},
		{"several", 120, []account.Alert{expiring, failed}, "⚑ Salmon Treats, 8 oz expires unless it is confirmed within 1m · raised 14s ago · and 1 more"},
		{"several, with no room for both", 80, []account.Alert{expiring, failed}, "⚑ Salmon Treats, 8 oz expires unless it is confirmed within 1m · and 1 more"},
		{"one, with little room", 60, []account.Alert{expiring}, "⚑ Salmon Treats, 8 oz expires …ss it is confirmed within 1m"},
		{"one that is not due", 80, []account.Alert{failed}, "⚑ Desk Lamp failed: out of stock · raised 14s ago"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(now)
			s.changes.Summary.Alerts = c.alerts
			m := boardOf(t, s, c.width, 40, func(cfg *Config) { cfg.Now = func() time.Time { return now } })
			if got := strings.TrimSpace(strings.Split(screen(m), "\n")[1]); got != c.want {
				t.Errorf("the line says %q, want %q", got, c.want)
			}
		})
	}
}

func TestASpentDayIsOnTheLineWithSinceWhenAndByWhenTheFirstIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := typicalShop(now)
		s.changes.Summary.Alerts = append(s.changes.Summary.Alerts,
			account.Alert{Kind: account.AlertExpiring, Text: "Desk Lamp expires", Since: now, Due: now.Add(time.Second)},
			account.Alert{Kind: account.AlertDay, Text: "24h limit of 2000 (assumed) reached: first slot back", Since: now.Add(-90 * time.Minute), Due: now.Add(11*time.Hour + 50*time.Minute)})
		for width, want := range map[int]string{
			200: "⚑ 24h limit of 2000 (assumed) reached: first slot back by 11:50 · since 22:30 · and 3 more",
			120: "⚑ 24h limit of 2000 (assumed) reached: first slot back by 11:50 · since 22:30 · and 3 more",
			80:  "⚑ 24h limit of 2000 (assumed) reached: first slot back by 11:50 · since 22:30",
		} {
			if got := screen(boardOf(t, s, width, 40)); !strings.Contains(got, want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, got)
			}
		}
	})
}

func TestABoardThatNothingFillsSaysWhatCanBeDone(t *testing.T) {
	const empty, partly = "intents cannot be found: no relay is configured", "no relay and no list of intents: give --relay-url, --watch-id or --watch-ids"
	for _, c := range []struct {
		name string
		full bool
		feed account.FeedState
		list account.ListState
		ids  bool
		want string
	}{
		{"no relay and no list", false, account.FeedOff, account.ListNotServed, false, empty},
		{"no relay and a list that is not read yet", false, account.FeedOff, account.ListUnread, false, ""},
		{"no relay and an empty list", false, account.FeedOff, account.ListWhole, false, ""},
		{"a relay", false, account.FeedLive, account.ListNotServed, false, ""},
		{"intents that shipments name", true, account.FeedOff, account.ListNotServed, false, partly},
		{"intents that a person named", true, account.FeedOff, account.ListNotServed, true, ""},
	} {
		for _, size := range [][2]int{{240, 55}, {120, 36}, {80, 24}} {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(time.Now())
				if c.full {
					s = typicalShop(time.Now())
					s.changes.Summary.Alerts = nil
				}
				sum := &s.changes.Summary
				sum.Feed.State, sum.List.State, sum.Named = c.feed, c.list, c.ids
				got := strings.Join(strings.Fields(screen(boardOf(t, s, size[0], size[1]))), " ")
				for _, why := range []string{empty, partly} {
					if strings.Contains(got, why) != (why == c.want) {
						t.Errorf("%s, %v: %q is there: %v\n%s", c.name, size, why, why != c.want, got)
					}
				}
				if whole := c.want == partly && size[0] >= 120; strings.Contains(got, " — until then, others stay unknown ") != whole {
					t.Errorf("%s, %v: what that means is cut:\n%s", c.name, size, got)
				}
				for _, what := range []string{"--relay-url", "--watch-id ", "--watch-ids"} {
					if strings.Contains(got, what) != (c.want != "") {
						t.Errorf("%s, %v: %q is there: %v\n%s", c.name, size, what, c.want == "", got)
					}
				}
			})
		}
	}
}

func TestANoticeGoesOnceItIsNoLongerTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := typicalShop(time.Now())
		s.changes.Summary.Alerts = nil
		arrive := func() {
			s.touch(func() { s.intent(90, api.AwaitingConfirmation, time.Second) })
		}
		for _, c := range []struct {
			name   string
			with   func(*Config)
			do     func(m *Model)
			happen func(m *Model)
			said   string
			stays  bool
		}{
			{"why a key does nothing", nil, func(m *Model) { press(m, "4", "c") }, func(m *Model) { press(m, "1") }, "read-only", true},
			{"why a key does nothing here", nil, func(m *Model) { press(m, "P", "s") }, func(m *Model) { press(m, "P") }, "this pane cannot be sorted", false},
			{"that an id is read", nil, func(m *Model) { perform(m, press(m, "i")); write(m, string(s.id(90))); perform(m, press(m, "enter")) }, func(*Model) { arrive() }, "is not known here yet", false},
		} {
			with := []func(*Config){func(c *Config) { c.Refresh = func(api.ID) {} }}
			if c.with != nil {
				with = append(with, c.with)
			}
			m := boardOf(t, s, 160, 45, with...)
			c.do(m)
			if got := screen(m); !strings.Contains(got, c.said) {
				t.Errorf("%s is not said:\n%s", c.name, got)
			}
			c.happen(m)
			m.Update(changesMsg{s.Changes(0)})
			if gone := !strings.Contains(pressingLine(m), c.said); gone == c.stays {
				t.Errorf("%s: gone is %t, the line says %q", c.name, gone, pressingLine(m))
			}
		}
	})
}

func TestASentenceThatIsNoLongerTrueDoesNotComeBack(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 120, 36)
	runs := true
	m.notices.sayWhile(func() bool { return runs }, warning, "an attempt is running")
	for _, c := range []struct{ runs, said bool }{{true, true}, {false, false}, {true, false}} {
		runs = c.runs
		m.Update(tickMsg{})
		if got := screen(m); strings.Contains(got, "an attempt is running") != c.said {
			t.Errorf("running %t: it is said %t:\n%s", runs, !c.said, got)
		}
	}
}
