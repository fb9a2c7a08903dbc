package dashboard

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/attention"
	"tillwatch/ui/notify"
)

func TestATerminalThatIsNotLookedAtIsNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) { c.Notify = notify.Bell })
		if !m.modes().Focus {
			t.Error("the terminal is not asked to report its focus")
		}
		awaits := func(id api.ID) {
			c := account.Changes{At: time.Now(), Intents: []*account.Intent{{ID: id, State: api.AwaitingConfirmation}}}
			c.Summary.Feed.State = account.FeedLive
			m.Update(changesMsg{c})
			time.Sleep(time.Minute) // the clock of the bubble
		}
		m.Update(changesMsg{account.Changes{At: time.Now(), Summary: account.Summary{Feed: account.FeedStatus{State: account.FeedLive}}}})
		awaits("while it is looked at")
		if cmd := m.notify(); cmd != nil {
			t.Errorf("got %v while the terminal is looked at", cmd())
		}
		m.Update(tea.BlurMsg{})
		m.freeze() // a notice comes for what is held on the screen, too
		awaits("while it is not")
		cmd := m.notify()
		if cmd == nil {
			t.Fatal("no notice comes")
		}
		if told := cmd(); told != terminalMsg("\a") {
			t.Errorf("got %q, want the bell", told)
		}
		m.Update(tea.FocusMsg{})
		awaits("while it is looked at again")
		if m.notify() != nil {
			t.Error("notified after the person came back")
		}
	})
}

func TestTheTerminalHearsNothingOfAMutedKindUntilThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) { c.Notify, c.Now = notify.Bell, time.Now })
		m.Update(changesMsg{account.Changes{At: time.Now(), Summary: account.Summary{Feed: account.FeedStatus{State: account.FeedLive}}}})
		m.alerting.change(func(memory *attention.Memory) {
			memory.Put(attention.Off{Key: attention.Key{Kind: account.AlertFailed}, All: true, At: time.Now(), Until: time.Now().Add(time.Hour)})
		})
		m.Update(tea.BlurMsg{})
		fails := func(id api.ID) tea.Cmd {
			failed := account.Alert{Kind: account.AlertFailed, Intent: id, Text: "Mug failed"}
			m.Update(changesMsg{account.Changes{At: time.Now(), Summary: account.Summary{
				Feed: account.FeedStatus{State: account.FeedLive}, Alerts: []account.Alert{failed},
			}}})
			time.Sleep(time.Minute) // the clock of the bubble
			return m.notify()
		}
		if cmd := fails("ci_muted"); cmd != nil {
			t.Errorf("got %q", cmd())
		}
		time.Sleep(time.Hour)
		if fails("ci_heard") == nil {
			t.Error("no notice comes once it is not muted any more")
		}
	})
}

func TestNothingNotifiesUnlessItIsWanted(t *testing.T) {
	for _, method := range []notify.Method{"", notify.Off} {
		m := boardOf(t, typicalShop(time.Now()), 120, 36, func(c *Config) { c.Notify = method })
		m.Update(changesMsg{account.Changes{At: time.Now(), Summary: account.Summary{Feed: account.FeedStatus{State: account.FeedLive}}}})
		m.Update(tea.BlurMsg{}) // reported all the same: it says when somebody is away
		m.Update(changesMsg{account.Changes{At: time.Now().Add(-time.Minute), Intents: []*account.Intent{{ID: "ci_1", State: api.AwaitingConfirmation}}}})
		if cmd := m.notify(); cmd != nil {
			t.Errorf("%q: got %v", method, cmd())
		}
	}
}
