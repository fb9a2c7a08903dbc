package dashboard

import (
	"testing"
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
		{"one that waits, and nothing else", []account.Alert{awaits("longer", time.Hour), awaits("waits", time.Minute)}, "waits"},
	} {
		if got := pressing(c.alerts, now).Text; got != c.want {
			t.Errorf("%s: %q is shown, want %q", c.name, got, c.want)
		}
	}
}
