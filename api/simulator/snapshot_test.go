package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// restored runs a test on a simulator that begins with a snapshot.
func restored(t *testing.T, from []byte, change func(*Config), test func(a *account)) {
	t.Helper()
	inBubble(t, func(c *Config) {
		time.Sleep(90 * 24 * time.Hour) // the snapshot is old
		c.From, c.Seed = from, 99
		if change != nil {
			change(c)
		}
	}, test)
}

// resources are all intents, shipments, products and events, without their times.
func (a *account) resources() string {
	k := a.asks("GET", "/control/snapshot", "")
	var all []string
	for _, query := range []string{"intents.#.intent", "shipments.#.shipment", "products", "events", "orders"} {
		all = append(all, k.Get(query).Raw)
	}
	return regexp.MustCompile(`\d{4}-\d\d-\d\dT[^"]*`).ReplaceAllString(strings.Join(all, "\n"), "TIME")
}

func TestASnapshotIsStartedFrom(t *testing.T) {
	var kept []byte
	var before, awaiting, begun, placing, reference string
	inBubble(t, func(c *Config) { c.History = 30 }, func(a *account) {
		awaiting = a.create(chiliCrisp, drawdown, `"referenceId":"2026-01-02T03:04:05Z"`)
		later(10 * time.Second)
		placing = a.create(chiliCrisp, drawdown)
		later(10 * time.Second)
		a.confirm(placing)
		begun = a.create(magicURL("sold-out"))
		reference = a.asks("GET", "/control/intents/"+awaiting, "").Get("intent.referenceId").String()
		a.happens(chiliCrisp, "product.updated", `"price":1234`, `"availability":"backorder"`)
		before, kept = a.resources(), a.call("GET", "/control/snapshot", "").body
		if bytes.Contains(kept, []byte(testKey)) || bytes.Contains(kept, []byte(testSecret)) {
			t.Error("the snapshot holds a key or the secret")
		}
	})
	restored(t, kept, nil, func(a *account) {
		if now := a.resources(); stripChallenges(now) != stripChallenges(before) {
			t.Errorf("it holds\n%.2000s\nwant\n%.2000s", now, before)
		}
		in := a.intent(awaiting)
		created, err := time.Parse(time.RFC3339, in["createdAt"].(string))
		if age := time.Since(created); err != nil || age < 20*time.Second || age > 40*time.Second || in["referenceId"] != reference {
			t.Errorf("the intent is %v old (%v), with the reference %v", age, err, in["referenceId"])
		}
		later(15 * time.Second)
		if got := a.state(placing) + " " + a.state(begun) + " " + a.state(awaiting); got != "completed failed awaiting_confirmation" {
			t.Errorf("they go on to %s: %v", got, a.intent(placing))
		}
		later(45 * time.Minute)
		state := a.asks("GET", "/control/state", "")
		if a.state(awaiting) != "failed" || state.Get("shipments.delivered").Int()+state.Get("shipments.canceled").Int() != gjson.Parse(sum(state.Get("shipments"))).Int() {
			t.Errorf("in the end there are %s, and the intent is %s", state.Get("shipments").Raw, a.state(awaiting))
		}
		if events := a.receiver.got(); len(events) == 0 || bytes.Contains(kept, []byte(events[len(events)-1].event["id"].(string))) {
			t.Errorf("delivered are %d events, the last is of the snapshot", len(events))
		}
	})
	restored(t, kept, func(c *Config) { c.At = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }, func(a *account) {
		if at := a.intent(awaiting)["createdAt"].(string); !strings.HasPrefix(at, "2026-04-30T23:59:") {
			t.Errorf("at the asked time the intent is of %s", at)
		}
	})
}

// sum is the sum of the numbers of an object.
func sum(of gjson.Result) string {
	total := int64(0)
	of.ForEach(func(_, n gjson.Result) bool {
		total += n.Int()
		return true
	})
	return fmt.Sprint(total)
}

// stripChallenges takes the events out that each registration makes.
func stripChallenges(text string) string {
	return regexp.MustCompile(`,?\{"id":"evt_we_[^}]*\}\}`).ReplaceAllString(text, "")
}

func TestWhatIsNoSnapshotIsRefused(t *testing.T) {
	var whole map[string]any
	inBubble(t, func(c *Config) { c.History = 10 }, func(a *account) {
		if err := json.Unmarshal(a.call("GET", "/control/snapshot", "").body, &whole); err != nil {
			t.Fatal(err)
		}
	})
	intent := func(field string, value any) []any {
		kept := map[string]any{
			"intent": map[string]any{"id": "ci_1", "state": "placing_order", "createdAt": "2026-01-01T00:00:00Z", "buyer": map[string]any{}, "offer": map[string]any{}},
			"due":    "2026-01-01T00:01:00Z",
		}
		kept[field] = value
		return []any{kept}
	}
	with := func(field string, value any) string {
		changed := map[string]any{}
		for name, v := range whole {
			changed[name] = v
		}
		changed[field] = value
		return string(encode(changed))
	}
	for name, c := range map[string]struct{ raw, says string }{
		"nothing":                     {"", "the snapshot cannot be read"},
		"another file":                {`{"intents":[]}`, "this is not a snapshot of a stand-in"},
		"a later form":                {with("format", "tillwatch-stand-in/2"), "this is not a snapshot of a stand-in"},
		"a shipment of nothing":       {with("intents", []any{}), "an impossible shipment"},
		"an intent of no state":       {with("intents", []any{map[string]any{"intent": map[string]any{"id": "ci_1", "state": "lost", "createdAt": "2026-01-01T00:00:00Z"}}}), "an impossible intent"},
		"an intent without its offer": {with("intents", []any{map[string]any{"intent": map[string]any{"id": "ci_1", "state": "awaiting_confirmation", "createdAt": "2026-01-01T00:00:00Z", "buyer": map[string]any{}}}}), "an impossible intent"},
		"more parcels than there are": {with("intents", intent("unshipped", 1e18)), "an impossible intent"},
		"fewer parcels than none":     {with("intents", intent("unshipped", -1)), "an impossible intent"},
		"an order without its end":    {with("intents", intent("due", nil)), "an impossible intent"},
		"an event of no id":           {with("events", []any{map[string]any{"id": "evt"}}), "an event that cannot be read"},
	} {
		if _, err := New(Config{Key: api.NewSecret(testKey), SigningSecret: api.NewSecret(testSecret), From: []byte(c.raw)}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
