package wording_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/wording"
)

func TestADayInWords(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 30, 0, 0, time.FixedZone("CET", 3600))
	ended := func(state api.IntentState, ago time.Duration, code api.FailureCode) *account.Intent {
		in := &account.Intent{State: state, EndedAt: now.Add(-ago)}
		if state == api.Completed {
			in.Total = &api.Money{Currency: "USD", Subunits: 120050}
			in.CreatedAt, in.OfferedAt, in.ConfirmedAt = in.EndedAt.Add(-time.Minute), in.EndedAt.Add(-50*time.Second), in.EndedAt.Add(-1400*time.Millisecond)
		}
		if code != "" {
			in.Failure = &api.FailureReason{Code: code}
		}
		return in
	}
	intents := []*account.Intent{
		ended(api.Completed, time.Hour, ""), ended(api.Completed, 2*time.Hour, ""), ended(api.Failed, time.Hour, "payment_failed"),
		ended(api.Failed, time.Hour, "checkout_intent_expired"), ended(api.Completed, 30*time.Hour, ""),
		{State: api.AwaitingConfirmation, Total: &api.Money{Currency: "EUR", Subunits: 500}}, {State: api.AwaitingConfirmation},
	}
	cases := []struct {
		name  string
		known time.Duration // ago; 0: never
		want  string
	}{
		{"a whole day", 100 * time.Hour, "since 00:00 2 of 4 completed (50 %) for 2,401.00 USD, 1 failed, 1 expired; yesterday by now 100 % of 1"},
		{"watched since yesterday morning", 31 * time.Hour, "since 00:00 2 of 4 completed (50 %) for 2,401.00 USD, 1 failed, 1 expired; yesterday by now from 05:30 100 % of 1"},
		{"watched since this morning", 90 * time.Minute, "since 11:00 1 of 3 completed (33 %) for 1,200.50 USD, 1 failed, 1 expired; yesterday by now unknown"},
		{"watched since a minute ago", time.Minute, "since 12:29 none is known to have ended; yesterday by now unknown"},
		{"never watched", 0, "unknown"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			known := now.Add(-c.known)
			if c.known == 0 {
				known = time.Time{}
			}
			p := account.PulseOf(slices.Values(intents), &account.Summary{Known: known}, now)
			if got := wording.Day(&p); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
			if got, want := wording.Awaited(&p), "2 for 5.00 EUR + 1 unknown total"; got != want {
				t.Errorf("what awaits is %q, want %q", got, want)
			}
		})
	}
	p := account.PulseOf(slices.Values(intents), &account.Summary{Known: now.Add(-100 * time.Hour)}, now)
	p.Today.More = true
	if got, want := wording.Day(&p), "since 00:00 at least 2 of 4 completed (50 %) for"; !strings.HasPrefix(got, want) {
		t.Errorf("it is %q where more may have ended, want %q", got, want)
	}
	if got, want := wording.Times(p.Today.Order, p.ByNow.Order), "p50 1.4s, p95 1.4s (of 2); yesterday by now p50 1.4s, p95 1.4s (of 1)"; got != want {
		t.Errorf("orders are %q, want %q", got, want)
	}
}

func TestALatencyInWords(t *testing.T) {
	pace := func(n, p50, p95 int) account.Pace {
		return account.Pace{Count: n, P50: time.Duration(p50) * time.Millisecond, P95: time.Duration(p95) * time.Millisecond}
	}
	cases := []struct {
		name, of, want string
		l              account.Latency
	}{
		{"of reads", "reads", "p50 82ms, p95 190ms (of 204)", account.Latency{Class: quota.Reads, Recent: pace(204, 82, 190)}},
		{"of others", "mutations of others", "p50 500ms, p95 2.3s (of 12)",
			account.Latency{Class: quota.Mutations, Others: true, Recent: pace(12, 500, 2300)}},
		{"partly without an answer", "lookups", "p50 500ms, p95 2.3s (of 2), 1 unanswered",
			account.Latency{Class: quota.Lookup, Recent: pace(2, 500, 2300), Unanswered: 1}},
		{"without an answer", "other requests", "none answered, 3 unanswered", account.Latency{Unanswered: 3}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := wording.LatencyOf(&c.l); got != c.of {
				t.Errorf("it is of %q, want %q", got, c.of)
			}
			if got := wording.Latency(&c.l); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}
