package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// told is a picture with something of everything.
func told(now time.Time) account.Changes {
	course := func(n int, step time.Duration) []quota.Sample {
		samples := make([]quota.Sample, n)
		for i := range samples {
			samples[i].At = now.Add(time.Duration(i-n) * step)
		}
		samples[n-1] = quota.Sample{At: now.Add(-step), Known: true, Remaining: 3, Own: 4, Others: 5, Rejected: 1}
		return samples
	}
	completed := &account.Intent{ID: "ci_2", State: api.Completed, CreatedAt: now.Add(-time.Hour), OfferedAt: now.Add(-time.Hour + 9*time.Second),
		ConfirmedAt: now.Add(-time.Minute), EndedAt: now.Add(-30 * time.Second), Total: &api.Money{Currency: "USD", Subunits: 123456}}
	return account.Changes{Intents: []*account.Intent{completed}, Summary: account.Summary{
		Known:   now.Add(-20 * time.Hour).UTC(),
		Latency: []account.Latency{{Class: quota.Reads, Recent: account.Pace{Count: 90, P50: 82 * time.Millisecond, P95: time.Second}}},
		Intents: map[api.IntentState]int{api.AwaitingConfirmation: 2, "": 1}, Shipments: map[api.ShipmentStatus]int{api.Shipped: 3},
		Quota: []quota.Bucket{{Class: quota.Reads, Policy: "default", Limit: 10, Window: time.Second, Remaining: 3, Reset: time.Minute, ObservedAt: now,
			Exhausted: 12 * time.Second, History: course(60, time.Second), Hour: course(60, time.Minute), Day: course(24, time.Hour)}},
		Day:    account.DayCount{Seen: 12, Limit: 50, Told: true, Left: 20, At: now, Resets: now.Add(time.Hour), Exhausted: 40 * time.Minute},
		Agents: account.AgentCount{Placing: 4, Limit: 10},
		Limits: []account.Limit{{Name: account.LimitReads, Window: time.Second, Limit: account.Figure{N: 10, Grounds: account.Told}, Used: account.Figure{N: 7, Grounds: account.Told}}},
		Feed:   account.FeedStatus{State: account.FeedLost, Since: now.Add(-time.Minute), Epoch: "e", Head: 9, Cursor: 8, RetryAt: now.Add(3 * time.Second)},
		API:    account.APIStatus{State: account.APIHealthy, Since: now.Add(-time.Hour), Err: errors.New("502 an hour ago")},
		Reads:  account.ReadCounters{Total: 11, Failed: 1, Behind: 2, StateChanges: 10},
		Pace:   map[api.IntentState]account.Pace{api.PlacingOrder: {Count: 9, P50: 20 * time.Second, P95: time.Minute}},
		Alerts: []account.Alert{{Kind: account.AlertExpiring, Text: "Socks expires", Intent: "ci_1", Since: now, Due: now.Add(time.Minute)}},
	}}
}

// untold is what the picture of told lacks.
func untold() account.Settling {
	return account.Settling{Unreadable: 1, Reported: 3, Missing: []account.Missing{
		{Part: account.PartList, Err: errors.New("GET /x: 429 too many requests")},
		{Part: account.PartIntents, Count: 2},
	}}
}

func TestStatusKeepsItsNamesAndShowsWhatIsSpent(t *testing.T) {
	now := time.Date(2026, 6, 18, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	if err := (streams{out: &out, json: true}).print(newSnapshot("staging", told(now), untold(), now)); err != nil {
		t.Fatal(err)
	}
	line := out.Bytes()
	if !json.Valid(line) || bytes.Count(line, []byte("\n")) != 1 {
		t.Fatalf("not one JSON object on one line: %s", line)
	}
	for name, want := range map[string]string{
		"environment": "staging", "at": "2026-06-18T12:00:00Z", "settled": "false",
		"missing.#": "2", "missing.0.what": "list", "missing.0.count": "", "missing.0.why": "GET /x: 429 too many requests", "missing.1.what": "intents", "missing.1.count": "2", "missing.1.why": "",
		"intents.retrieving_offer": "", "intents.awaiting_confirmation": "2", "intents.placing_order": "", "intents.completed": "", "intents.failed": "", "intents.other": "1", "intents.not_read": "",
		"shipments.ordered": "", "shipments.shipped": "3",
		"quota.0.class": "reads", "quota.0.policy": "default", "quota.0.limit": "10", "quota.0.window_s": "1", "quota.0.remaining": "3", "quota.0.reset_s": "60",
		"quota.0.own_per_s": "0", "quota.0.others_per_s": "0",
		"relay.state": "lost", "relay.epoch": "e", "relay.head": "9", "relay.cursor": "8", "relay.last_event_age_s": "", "relay.gaps": "0",
		"events.received": "0", "events.duplicate": "0", "events.late": "0", "events.missed": "0", "events.backfilled": "0",
		"reads.total": "11", "reads.unreadable": "1", "reads.reported": "3", "reads.per_state_change": "1.1",
		"pulse.known": "2026-06-17T16:00:00Z", "pulse.today.from": "2026-06-18T00:00:00Z", "pulse.today.created": "1", "pulse.today.failed": "0", "pulse.today.expired": "0",
		"pulse.today.completed": "1", "pulse.today.value.0.amountSubunits": "123456", "pulse.today.offer.p50Ns": "9000000000", "pulse.today.order.p95Ns": "30000000000",
		"pulse.hour.#": "60", "pulse.hour.59.known": "true", "pulse.hour.59.completed": "0", "pulse.hour.58.completed": "1", "pulse.hour.59.at": "2026-06-18T12:00:00Z",
		"pulse.day.#": "96", "pulse.day.0.known": "false", "pulse.day.94.completed": "1",
		"alerts.0.kind": "expiring", "alerts.0.text": "Socks expires", "alerts.0.intent": "ci_1", "alerts.0.since": "2026-06-18T12:00:00Z", "alerts.0.due": "2026-06-18T12:01:00Z",
		"summary.quota.0.exhaustedNs": "12000000000", "summary.quota.0.history.#": "60", "summary.quota.0.hour.59.others": "5", "summary.quota.0.day.23.remaining": "3",
		"summary.api.state": "healthy", "summary.feed.retryAt": "2026-06-18T12:00:03Z", "summary.reads.failed": "1", "summary.day.left": "20", "summary.agents.placing": "4",
		"summary.pace.placing_order.p95Ns": "60000000000", "summary.latency.0.recent.count": "90",
	} {
		got := gjson.GetBytes(line, name)
		if !got.Exists() || got.String() != want {
			t.Errorf("%s is %q (there: %v), want %q", name, got.String(), got.Exists(), want)
		}
	}
	for _, unknown := range []string{"pulse.waiting", "pulse.yesterdayByNow", "summary.alerts", "summary.lastRead"} {
		if got := gjson.GetBytes(line, unknown); got.Exists() {
			t.Errorf("%s is %s", unknown, got.Raw)
		}
	}
}

func TestWhatIsNotKnownIsNoZero(t *testing.T) {
	now := time.Now()
	nothing := newSnapshot("staging", account.Changes{}, account.Settling{Missing: []account.Missing{{Part: account.PartList}}}, now)
	line, err := json.Marshal(nothing)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"intents.retrieving_offer", "intents.awaiting_confirmation", "intents.placing_order", "intents.completed", "intents.failed", "intents.other", "intents.not_read",
		"shipments.ordered", "shipments.delivered", "relay.head", "relay.cursor", "relay.last_event_age_s", "events.missed",
	} {
		if got := gjson.GetBytes(line, name); !got.Exists() || got.Type != gjson.Null {
			t.Errorf("%s is %s, want null", name, got.Raw)
		}
	}
	if text := nothing.text(); !strings.Contains(text, "intents      unknown\n") || !strings.Contains(text, "shipments    unknown\n") || !strings.Contains(text, "unknown missed") {
		t.Errorf("for people:\n%s", text)
	}

	policyOnly := account.Changes{Summary: account.Summary{Quota: []quota.Bucket{{Class: quota.Reads, Limit: 10, Window: time.Second, Unreported: true}, {Class: quota.Lookup, Remaining: 4, Reset: time.Second, ObservedAt: now}}}}
	r := newSnapshot("staging", policyOnly, account.Settling{}, now)
	if line, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"settled": "true", "missing": "[]", "intents.failed": "0", "shipments.ordered": "0",
		"quota.0.limit": "10", "quota.0.remaining": "null", "quota.0.reset_s": "null",
		"quota.1.limit": "null", "quota.1.window_s": "null", "quota.1.remaining": "4",
	} {
		if got := gjson.GetBytes(line, name).Raw; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
