package dashboard

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

func TestALostRelaySaysWhenItIsDialledAgainAndByWhichKeyNow(t *testing.T) {
	for _, c := range []struct {
		name string
		left time.Duration
		want string
	}{
		{"while it waits", 18 * time.Second, "reconnecting in 18s, R does it now; polling meanwhile"},
		{"in the last second", 400 * time.Millisecond, "reconnecting in 1s, R does it now"},
		{"while it is dialled", 0, "reconnecting now; polling meanwhile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Now()
			s := typicalShop(now)
			s.changes.Summary.Feed = account.FeedStatus{State: account.FeedLost, Since: now.Add(-time.Minute), RetryAt: now.Add(c.left)}
			m := boardOf(t, s, 200, 40, func(c *Config) {
				c.Now = func() time.Time { return now }
			})
			if got := strings.Split(screen(m), "\n")[1]; !strings.Contains(got, c.want) {
				t.Errorf("the line says %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheKeyThatReconnectsCountsWhereTheRelayIsLost(t *testing.T) {
	for _, c := range []struct {
		state account.FeedState
		says  string
		dials bool
	}{
		{account.FeedLost, "reconnecting to the relay", true},
		{account.FeedConnecting, "already connecting to the relay", false},
		{account.FeedReplaying, "the relay is connected", false},
		{account.FeedLive, "the relay is connected", false},
		{account.FeedRefused, "the relay refuses the token: set the right one and start again", false},
		{account.FeedOff, "no relay is configured", false},
	} {
		t.Run(c.state.String(), func(t *testing.T) {
			s := typicalShop(time.Now())
			s.changes.Summary.Feed.State = c.state
			dialled := false
			m := boardOf(t, s, 120, 36, func(c *Config) { c.Reconnect = func() { dialled = true } })
			if dial := press(m, "R"); dial != nil {
				dial()
			}
			if got := strings.Split(screen(m), "\n")[1]; !strings.Contains(got, c.says) {
				t.Errorf("the line says %q, want %q", got, c.says)
			}
			if dialled != c.dials {
				t.Errorf("the relay was dialled: %v", dialled)
			}
		})
	}
}

func TestAReadAskedForSaysInWordsThatItFailed(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []error // of the attempts, in order
		other   bool    // they are about another intent
		says    string
	}{
		{"not answered yet", nil, false, "reading ID again"},
		{"refused", []error{&api.Error{Method: "GET", Status: 403}}, false, "! reading ID failed: 403 forbidden"},
		{"no answer", []error{errors.New("no answer: EOF\x1b[2J")}, false, "! reading ID failed: no answer: EOF"},
		{"failed, then read", []error{errors.New("no answer: EOF"), nil}, false, ""},
		{"another one failed", []error{errors.New("no answer: EOF")}, true, "reading ID again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(time.Now())
			m := boardOf(t, s, 200, 40)
			press(m, "r")
			id := m.board.subject().ID
			about := id
			if c.other {
				about = "ci_other"
			}
			path := "/api/v1/checkout-intents/" + string(about)
			for i, err := range c.answers {
				var e *api.Error
				if errors.As(err, &e) {
					e.Path = path
				}
				m.apply(&account.Changes{Version: 2, Summary: s.changes.Summary, Requests: []api.Exchange{
					{Method: "GET", Path: path, Priority: quota.Person, Attempt: i + 1, Sent: time.Now(), Err: err}}})
			}
			line := strings.Split(screen(m), "\n")[1]
			if want := strings.ReplaceAll(c.says, "ID", string(id)); !strings.Contains(line, want) || want == "" && strings.Contains(line, "reading") {
				t.Errorf("the line says %q, want %q", line, want)
			}
		})
	}
}
