package dashboard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/attention"
)

// alerted is a board on the alerts pane of a shop with these alerts, and what a
// later run is told.
func alerted(t *testing.T, from attention.Memory, alerts ...account.Alert) (*Model, *attention.Memory) {
	t.Helper()
	kept := from
	s := typicalShop(time.Now())
	s.changes.Summary.Alerts = alerts
	m := boardOf(t, s, 160, 45, func(c *Config) {
		c.Attention, c.Attend = from, func(do func(*attention.Memory)) { do(&kept) }
	})
	press(m, "6")
	return m, &kept
}

// raise has the source tell of other alerts.
func raise(m *Model, alerts ...account.Alert) {
	s := m.cfg.Source.(*shop)
	s.touch(func() { s.changes.Summary.Alerts = alerts })
	m.Update(changesMsg{s.Changes(0)})
}

// second lets a time pass, and the clock tick.
func second(m *Model, pass time.Duration) {
	time.Sleep(pass)
	m.Update(tickMsg{})
}

// listed reports whether a line of the screen says all this.
func listed(m *Model, parts ...string) bool {
	for line := range strings.SplitSeq(screen(m), "\n") {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			return true
		}
	}
	return false
}

// pressingLine is what the line below the header says.
func pressingLine(m *Model) string { return strings.Split(screen(m), "\n")[1] }

func failedAlert(name string, since time.Time) account.Alert {
	return account.Alert{Kind: account.AlertFailed, Text: name + " failed", Intent: "ci_1", Since: since}
}

func TestAnAcknowledgedAlertStaysListedAndPressesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := failedAlert("Mug", time.Now())
		m, kept := alerted(t, attention.Memory{}, failed)
		if line := pressingLine(m); !strings.Contains(line, "⚑ Mug failed") {
			t.Fatalf("the line says %q", line)
		}
		press(m, "d") // one key
		second(m, 7*time.Second)
		if line := pressingLine(m); strings.Contains(line, "Mug") {
			t.Errorf("the line still says %q", line)
		}
		got := screen(m)
		if !listed(m, "Mug failed", "acknowledged") || strings.Contains(strings.Split(got, "\n")[0], "⚑") {
			t.Errorf("it is not listed as acknowledged, or still counted:\n%s", got)
		}
		again, _ := alerted(t, *kept, failed)
		if line := pressingLine(again); strings.Contains(line, "Mug") {
			t.Errorf("after a restart the line says %q", line)
		}
		press(m, "d")
		second(m, 7*time.Second)
		if line := pressingLine(m); !strings.Contains(line, "⚑ Mug failed") || len(kept.Off) > 0 {
			t.Errorf("taken back, the line says %q, and remembered is %+v", line, kept.Off)
		}
	})
}

func TestAnAcknowledgedAlertComesBack(t *testing.T) {
	due := func(in time.Duration) account.Alert {
		return account.Alert{Kind: account.AlertExpiring, Text: "Mug expires unless it is confirmed", Intent: "ci_1", Since: time.Now(), Due: time.Now().Add(in)}
	}
	t.Run("when it gets worse", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m, _ := alerted(t, attention.Memory{}, due(9*time.Minute))
			press(m, "d")
			second(m, 6*time.Minute)
			if line := pressingLine(m); strings.Contains(line, "Mug") {
				t.Errorf("with three minutes left the line says %q", line)
			}
			second(m, time.Minute)
			if line := pressingLine(m); !strings.Contains(line, "Mug expires") {
				t.Errorf("with two minutes left the line says %q", line)
			}
			press(m, "d") // it cannot get worse
			second(m, 110*time.Second)
			if line := pressingLine(m); strings.Contains(line, "Mug") {
				t.Errorf("acknowledged while it pressed, the line says %q", line)
			}
		})
	})
	t.Run("when it comes anew", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			relay := account.Alert{Kind: account.AlertRelay, Cause: "down", Text: "the relay cannot be reached", Since: time.Now()}
			m, kept := alerted(t, attention.Memory{}, relay)
			press(m, "d")
			raise(m)
			if len(kept.Off) > 0 {
				t.Errorf("the alert is over, and remembered is %+v", kept.Off)
			}
			raise(m, relay)
			second(m, 7*time.Second)
			if line := pressingLine(m); !strings.Contains(line, "the relay cannot be reached") {
				t.Errorf("the line says %q", line)
			}
		})
	})
	t.Run("when it was over while nothing ran", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, kept := alerted(t, attention.Memory{}, failedAlert("Mug", time.Now()))
			kept.Put(attention.Off{Key: attention.Key{Kind: account.AlertRelay, Cause: "down"}, At: time.Now()})
			m, later := alerted(t, *kept)
			second(m, 2*settled)
			if len(later.Off) > 0 {
				t.Errorf("remembered is %+v", later.Off)
			}
		})
	})
}

func TestAnAlertIsMutedForATime(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		lasts      time.Duration
		other      bool // another alert of the kind is muted, too
	}{
		{"15 minutes", "M M", 15 * time.Minute, false},
		{"an hour", "M j M", time.Hour, false},
		{"until tomorrow", "M j j enter", 24 * time.Hour, false}, // the clock of these tests begins at midnight
		{"its kind for 15 minutes", "M j j j enter", 15 * time.Minute, true},
		{"its kind for an hour, by the cursor", "M j j j j enter", time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed := failedAlert("Mug", time.Now().Add(time.Second))
				other := account.Alert{Kind: account.AlertFailed, Text: "Sofa failed", Intent: "ci_2", Since: time.Now()}
				m, _ := alerted(t, attention.Memory{}, failed, other)
				press(m, "g")
				press(m, strings.Fields(c.keys)...)
				says := func(text string) bool { return strings.Contains(pressingLine(m), text) }
				second(m, 7*time.Second)
				if says("Mug") || says("Sofa") == c.other {
					t.Errorf("the line says %q", pressingLine(m))
				}
				if together := regexp.MustCompile(`muted \d+\w \d`).FindString(screen(m)); together != "" {
					t.Errorf("its age is read with %q", together)
				}
				if !listed(m, "Mug failed", "muted for") {
					t.Errorf("it is not listed as muted:\n%s", screen(m))
				}
				second(m, c.lasts-9*time.Second)
				if says("Mug") {
					t.Errorf("two seconds before its end the line says %q", pressingLine(m))
				}
				second(m, 3*time.Second)
				if !says("Mug") {
					t.Errorf("after %v the line says %q", c.lasts, pressingLine(m))
				}
			})
		})
	}
}

func TestAnAlertIsAcknowledgedInTheDetailOfItsIntent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(time.Now())
		failed := failedAlert("Mug", time.Now())
		failed.Intent = s.id(3)
		m, kept := alerted(t, attention.Memory{}, failed)
		press(m, "enter", "d")
		if len(kept.Off) != 1 {
			t.Errorf("remembered is %+v", kept.Off)
		}
		press(m, "esc", "2", "d")
		if len(kept.Off) != 1 || !strings.Contains(pressingLine(m), "no alert under the cursor: 6 lists the alerts") {
			t.Errorf("without an alert: %+v, %q", kept.Off, pressingLine(m))
		}
	})
}
