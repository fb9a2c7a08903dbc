package pane

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

func TestRequestsShowWhatBecameOfThem(t *testing.T) {
	cases := []struct {
		name string
		call api.Exchange
		want string
	}{
		{"answered", api.Exchange{Method: "GET", Path: "/api/v1/shipments", Class: quota.Reads, Status: 200, Latency: 41 * time.Millisecond}, "✓ 200 GET shipments 41ms tillwatch person reads"},
		{"refused for its rate", api.Exchange{Method: "GET", Path: "/x", Class: quota.Reads, Status: 429, Priority: quota.Timer, Err: errors.New("slow down")}, "! 429 GET /x – tillwatch timer reads"},
		{"without an answer", api.Exchange{Method: "POST", Path: "/x", Class: quota.Mutations, Latency: 5 * time.Second, Err: errors.New("reset")}, "✕ no answer POST /x 5.0s tillwatch person mutations"},
		{"again, after a pause", api.Exchange{Method: "GET", Path: "/x", Class: quota.Reads, Status: 200, Attempt: 3, Waited: 940 * time.Millisecond, Priority: quota.Hint}, "✓ 200 GET /x – tillwatch event reads attempt 3 waited 940ms"},
		{"hostile", api.Exchange{Method: "GET", Path: "/x\x1b[2J\r", Class: quota.Reads, Status: 500, Priority: quota.Reconcile, Err: errors.New("no")}, "✕ 500 GET /x[2J – tillwatch reconcile reads"},
		{"somebody else's", api.Exchange{By: "checkout-worker", Method: "POST", Path: "/api/v1/checkout-intents", Class: quota.Mutations, Status: 200, Latency: 88 * time.Millisecond}, "✓ 200 POST checkout-intents 88ms checkout-worker mutations"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := NewRequests(look())
			p.SetPlace(Place{W: 160, H: 10})
			c.call.Sent = noon
			p.Apply(&account.Changes{Requests: []api.Exchange{c.call}}, true)
			if got := strings.Join(strings.Fields(text(p.Lines())), " "); !strings.Contains(got, c.want) {
				t.Errorf("no %q in %q", c.want, got)
			}
		})
	}
}

func TestAConfirmIsToldFromAReadHoweverNarrowTheRequests(t *testing.T) {
	const path = "/api/v1/checkout-intents/ci_9348867e9394473b910de1a6a7e745b7"
	for _, w := range []int{40, 60, 80, 120} {
		p := NewRequests(look())
		p.SetPlace(Place{W: w, H: 10})
		p.Apply(&account.Changes{Requests: []api.Exchange{{Method: "GET", Path: path, Sent: noon}, {Method: "POST", Path: path + "/confirm", Sent: noon.Add(time.Second)}}}, true)
		for line := range strings.Lines(text(p.Lines())) {
			if strings.Contains(line, "POST") != strings.Contains(line, "/confirm ") {
				t.Errorf("%d columns: %q", w, line)
			}
		}
	}
}

func TestRequestsAreFoundByWhoSentThem(t *testing.T) {
	p := NewRequests(look())
	p.SetPlace(Place{W: 160, H: 20})
	calls := []api.Exchange{
		{Method: "GET", Path: "/api/v1/shipments", Status: 200, Priority: quota.Timer},
		{Method: "GET", Path: "/api/v1/checkout-intents/ci_1", Status: 429, Priority: quota.Hint, Err: errors.New("slow down")},
		{By: "worker", Method: "POST", Path: "/api/v1/checkout-intents", Status: 201},
		{By: "worker", Method: "POST", Path: "/api/v1/checkout-intents/{id}/confirm", Status: 429},
		{By: "report job", Method: "GET", Path: "/api/v1/shipments"},
	}
	for i := range calls {
		calls[i].Sent = noon.Add(time.Duration(i) * time.Second)
	}
	p.Apply(&account.Changes{Requests: calls}, true)
	cases := []struct {
		filter string
		want   int
	}{
		{"by:worker", 2}, {"by:tillwatch", 2}, {"by:event", 1}, {`by:"report job"`, 1}, {"by:worker,timer", 3}, {"!by:tillwatch", 3}, {"by:nobody", 0},
		{"status:429", 2}, {"by:worker status:429", 1}, {"endpoint:confirm", 1}, {"endpoint:shipments", 2}, {"worker", 2},
		{"by=work", 0}, {"by=worker", 2}, {`by="tillwatch event"`, 1}, {"by=tillwatch", 0}, {`by="report job",worker`, 3},
		{"endpoint:{id}", 2}, {`endpoint="GET /api/v1/checkout-intents/{id}"`, 1}, {"path:ci_1", 1},
	}
	for _, c := range cases {
		f := ParseFilter(c.filter, p.Fields())
		if p.SetFilter(f); f.Wrong != "" {
			t.Errorf("%s: %s", c.filter, f.Wrong)
		}
		if shown, _ := p.Matches(); shown != c.want {
			t.Errorf("%s finds %d, want %d", c.filter, shown, c.want)
		}
	}
	p.SetFilter(nil)
	if got := text(p.Lines()); !strings.Contains(got, "3 failed") {
		t.Errorf("not told that three came to nothing:\n%s", got)
	}
}

func TestARequestIsThereOnceHoweverOftenItIsReported(t *testing.T) {
	p := NewRequests(look())
	p.SetPlace(Place{W: 160, H: 10})
	all := []api.Exchange{{Method: "GET", Path: "/a", Sent: noon, Status: 200}, {Method: "GET", Path: "/a", Sent: noon, Status: 200, Attempt: 2}}
	for range 3 {
		p.Apply(&account.Changes{Requests: all}, false)
	}
	if shown, total := p.Matches(); shown != 2 || total != 2 {
		t.Errorf("%d of %d requests, want 2", shown, total)
	}
	for i := range 2 * keptRequests {
		p.Apply(&account.Changes{Requests: []api.Exchange{{Path: "/b", Sent: noon.Add(time.Duration(i+1) * time.Second)}}}, false)
	}
	if _, total := p.Matches(); total != keptRequests {
		t.Errorf("%d requests are kept, want %d", total, keptRequests)
	}
}

func TestAlertsStandUntilTheyAreOver(t *testing.T) {
	p := NewAlerts(look(), nil)
	p.SetPlace(Place{W: 120, H: 10})
	tell := func(alerts ...account.Alert) string {
		p.Apply(&account.Changes{Summary: account.Summary{Alerts: alerts}}, false)
		p.Invalidate()
		return text(p.Lines())
	}
	if got := tell(); !strings.Contains(got, "no alerts") {
		t.Errorf("without any:\n%s", got)
	}
	relay := account.Alert{Kind: account.AlertRelay, Text: "the relay is lost", Since: noon.Add(-time.Minute)}
	old := account.Alert{Kind: account.AlertExpiring, Text: "expires in 4 minutes", Intent: "ci_1", Since: noon.Add(-time.Hour)}
	got := tell(old, relay)
	if at := strings.Index(got, "the relay is lost"); at < 0 || at > strings.Index(got, "expires in 4") {
		t.Errorf("the newest is not first:\n%s", got)
	}
	p.Move(Down)
	if got := p.Subject(); got != (Subject{Kind: OfIntent, ID: "ci_1"}) {
		t.Errorf("under the cursor is %v", got)
	}
	old.Text = "expires in 3 minutes"
	if got := tell(old, relay); !strings.Contains(got, "in 3 minutes") || strings.Contains(got, "in 4") || p.Subject().ID != "ci_1" {
		t.Errorf("an alert whose words change:\n%s", got)
	}
	if got := tell(relay); strings.Contains(got, "expires") || p.Subject() != (Subject{}) {
		t.Errorf("an alert that is over still stands:\n%s", got)
	}
}
