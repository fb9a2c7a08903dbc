package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/attention"
)

// nightShop is a shop in which, while nobody looked, five intents came: one of
// them waits, one was completed, two failed, one expired, a parcel arrived, another
// was late, and the relay was lost for a minute.
func nightShop(s *shop, m *Model) {
	s.now = time.Now()
	s.touch(func() {
		s.intent(60, api.AwaitingConfirmation, time.Minute)
		s.intent(61, api.Completed, time.Minute)
		s.intent(64, api.Failed, time.Minute) // out of stock
		s.intent(68, api.Failed, time.Minute) // out of stock
		s.intent(65, api.Failed, time.Minute) // expired
		for i, status := range []api.ShipmentStatus{api.Delivered, api.Delayed} {
			s.shipment(90+i, status, time.Hour)
			last := s.changes.Shipments[len(s.changes.Shipments)-1]
			last.Latest.UpdatedAt = s.now.Add(-time.Minute)
		}
		s.event(61, api.IntentCompleted, time.Minute)
		s.event(64, api.OrderFailed, time.Minute)
		s.changes.Summary.Feed.State = account.FeedLost
		s.changes.Summary.Alerts = []account.Alert{{Kind: account.AlertRelay, Cause: "down", Text: "the relay cannot be reached", Since: s.now}}
	})
	m.Update(changesMsg{s.Changes(0)})
	time.Sleep(time.Minute)
	s.touch(func() {
		s.changes.Summary.Feed.State = account.FeedLive
		s.changes.Summary.Alerts = nil
		s.changes.Summary.Gaps = 1
	})
	m.Update(changesMsg{s.Changes(0)})
}

// quietShop is a shop without alerts whose events came a while ago.
func quietShop() *shop {
	s := typicalShop(time.Now())
	s.changes.Summary.Alerts = nil
	s.now = s.now.Add(-time.Second)
	return s
}

func TestWhatHappenedWhileNobodyLookedIsOneKeyAway(t *testing.T) {
	for _, c := range []struct {
		name   string
		leave  func(m *Model)
		back   func(m *Model)
		why    string
		within string
	}{
		{"the focus was lost", func(m *Model) { m.Update(tea.BlurMsg{}) }, func(m *Model) { m.Update(tea.FocusMsg{}) }, "the terminal was not focused", "22m"},
		{"the screen was frozen", func(m *Model) { press(m, "space") }, func(m *Model) { press(m, "space") }, "the screen was frozen", "22m"},
		{"nothing was pressed", func(m *Model) { second(m, 5*time.Minute) }, func(m *Model) { press(m, "h") }, "no key was pressed and no mouse moved", "27m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := quietShop()
				m := boardOf(t, s, 120, 36)
				c.leave(m)
				time.Sleep(20 * time.Minute)
				nightShop(s, m)
				second(m, time.Minute)
				c.back(m)
				if line := pressingLine(m); !strings.Contains(line, "away "+c.within+": ") || !strings.Contains(line, ": 5 new, 2 failed, 1 expired · D") {
					t.Errorf("the line says %q", line)
				}
				press(m, "D") // one key
				got := screen(m)
				for _, want := range []string{c.why, "1 completed for ", "2 failed", "2 out of stock", "1 expired unseen", "1 delivered: ", "1 in trouble: ", " delayed",
					"1 raised, 1 over"} {
					if !strings.Contains(got, want) {
						t.Errorf("no %q in\n%s", want, got)
					}
				}
				press(m, "end")
				press(m, "G")
				got = screen(m)
				for _, want := range []string{"reads: ", " by tillwatch, at least ", "lost at ", " for 1m", "1 gap: the relay deleted events"} {
					if !strings.Contains(got, want) {
						t.Errorf("no %q in the end of\n%s", want, got)
					}
				}
				press(m, "D")
				if got := screen(m); strings.Contains(pressingLine(m), "away") || strings.Contains(got, "What happened") {
					t.Errorf("after the digest:\n%s", got)
				}
			})
		})
	}
}

func TestWhatHappenedBetweenTwoRunsIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietShop()
		var kept attention.Memory
		with := func(c *Config) { c.Attention, c.Attend = kept, func(do func(*attention.Memory)) { do(&kept) } }
		m := boardOf(t, s, 80, 24, with)
		m.away.seen(time.Now())
		time.Sleep(8 * time.Hour)
		s.now = time.Now()
		s.intent(61, api.Completed, time.Minute)
		s.event(61, api.IntentCompleted, time.Minute)
		s.changes.Summary.Feed.State = account.FeedReplaying
		m = boardOf(t, s, 80, 24, with)
		if m.away.notice() != "" {
			t.Errorf("before the history is there it says %q", m.away.notice())
		}
		s.touch(func() { s.changes.Summary.Feed.State = account.FeedLive })
		m.Update(changesMsg{s.Changes(0)})
		if line := pressingLine(m); !strings.Contains(line, "away 8h: 1 new, 1 completed · D") {
			t.Errorf("the line says %q", line)
		}
		press(m, "D")
		if got := screen(m); !strings.Contains(got, "tillwatch was not running") || !strings.Contains(got, "1 completed for ") {
			t.Errorf("the digest is\n%s", got)
		}
		press(m, "G")
		if got := screen(m); !strings.Contains(got, "not known") {
			t.Errorf("it does not say what is not known:\n%s", got)
		}
	})
}

func TestWhatHappenedSinceTheStartIsNotCalledUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietShop()
		m := boardOf(t, s, 120, 36)
		second(m, 4*time.Minute)
		nightShop(s, m)
		press(m, "D")
		if got := screen(m); !strings.Contains(got, "you have not been away since the start") || !strings.Contains(got, "1 expired") || strings.Contains(got, "unseen") {
			t.Errorf("the digest is\n%s", got)
		}
	})
}

func TestWhatEndedUnseenIsNotSaidToHaveEndedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietShop()
		m := boardOf(t, s, 120, 36)
		m.Update(tea.BlurMsg{})
		time.Sleep(20 * time.Minute)
		s.touch(func() {
			for i, created := range []time.Duration{time.Hour, 10 * time.Minute} { // before that, and meanwhile
				in := *s.intent(61+i, api.Completed, time.Minute)
				in.Since, in.CreatedAt, in.EndedAt, in.FoundEnded = time.Now(), time.Now().Add(-created), time.Time{}, true
				s.put(&in)
			}
		})
		m.Update(changesMsg{s.Changes(0)})
		press(m, "D")
		if got := screen(m); !strings.Contains(got, "1 completed for ") || !strings.Contains(got, "1 intent was found ended at an unknown time") {
			t.Errorf("the digest is\n%s", got)
		}
	})
}

func TestAnAlertIsNotCoveredByWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietShop()
		m := boardOf(t, s, 120, 36)
		m.Update(tea.BlurMsg{})
		time.Sleep(5 * time.Minute)
		nightShop(s, m)
		raise(m, failedAlert("Mug", time.Now()))
		m.Update(tea.FocusMsg{})
		if line := pressingLine(m); !strings.HasPrefix(strings.TrimSpace(line), "⚑ Mug failed") || !strings.Contains(line, "· away 6m: ") {
			t.Errorf("the line says %q", line)
		}
	})
}

func TestAGlimpseElsewhereIsNoAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietShop()
		m := boardOf(t, s, 120, 36)
		m.Update(tea.BlurMsg{})
		time.Sleep(3 * time.Second)
		s.now = time.Now()
		s.event(61, api.IntentCompleted, 0)
		m.Update(changesMsg{s.Changes(0)})
		m.Update(tea.FocusMsg{})
		if got := screen(m); strings.Contains(got, "away") {
			t.Errorf("it says\n%s", got)
		}
	})
}
