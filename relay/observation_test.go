package relay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"tillwatch/api/quota"
)

// observed is the nth of a row of observations.
func observed(n int) quota.Observation {
	return quota.Observation{
		ID: fmt.Sprintf("observer-%d", n), Sent: time.Date(2026, 4, 21, 3, 27, 50, n, time.UTC), Latency: 41 * time.Millisecond,
		Method: "GET", Endpoint: "/api/v1/checkout-intents/{id}", Class: quota.Reads, Status: 200,
		Reports: []quota.Report{{Policy: "default", Limit: 10, Window: time.Second, PolicyKnown: true, Remaining: 7, Reset: time.Second, RemainingKnown: true, ResetKnown: true}},
		Key:     "3f9a", Spender: "shop", IntentID: "ci_1", State: "retrieving_offer", Reference: "order-7",
	}
}

func batchOf(from, to int) []byte {
	var all []quota.Observation
	for n := from; n <= to; n++ {
		all = append(all, observed(n))
	}
	text, err := json.Marshal(map[string]any{"items": all})
	if err != nil {
		panic(err)
	}
	return text
}

func TestABatchKeepsWhatItSays(t *testing.T) {
	all, err := readBatch(batchOf(1, maxBatch))
	if err != nil || len(all) != maxBatch {
		t.Fatalf("%d observations, %v", len(all), err)
	}
	for i, o := range all {
		if !reflect.DeepEqual(o, observed(i+1)) {
			t.Fatalf("observation %d became %+v", i+1, o)
		}
	}
}

func TestWhatABatchMayLeaveOutAndAdd(t *testing.T) {
	for name, body := range map[string]string{
		"no items":                          `{"items":[]}`,
		"the least":                         `{"items":[{"id":"a","sent":"2026-04-21T03:27:50Z"}]}`,
		"members that nobody knows":         `{"from":"me","items":[{"id":"a","sent":"2026-04-21T03:27:50Z","body":{"deep":[1]}}],"more":[1]}`,
		"a request without an answer":       `{"items":[{"id":"a","sent":"2026-04-21T03:27:50Z","status":0}]}`,
		"a class that the contract has not": `{"items":[{"id":"a","sent":"2026-04-21T03:27:50Z","class":"exports"}]}`,
	} {
		if _, err := readBatch([]byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABatchThatCannotBeTakenSaysWhichItemAndWhy(t *testing.T) {
	good := `{"id":"a","sent":"2026-04-21T03:27:50Z"}`
	item := func(members string) string {
		return `{"items":[` + good + `,{"id":"b","sent":"2026-04-21T03:27:50Z",` + members + `}]}`
	}
	for _, test := range []struct{ name, body, want string }{
		{"nothing", "", "not a batch"},
		{"no JSON", "GET / HTTP/1.1", "not a batch"},
		{"half of it", `{"items":[` + good, "not a batch"},
		{"a list", `[` + good + `]`, "not a batch: send"},
		{"another object", `{"observations":[]}`, "has no items"},
		{"items that are no list", `{"items":{"id":"a"}}`, "items is not a list"},
		{"null for items", `{"items":null}`, "items is not a list"},
		{"an item that is no object", `{"items":[` + good + `,7]}`, "items[1]: it is not an object"},
		{"a list as an item", `{"items":[[` + good + `]]}`, "items[0]: it is not an object"},
		{"null as an item", `{"items":[null]}`, "items[0]: id has"},
		{"too many", `{"items":[` + strings.Repeat(good+",", maxBatch) + good + `]}`, "at most 1000 items"},
		{"too many of nothing", `{"items":[` + strings.Repeat("0,", 500_000) + `0]}`, "at most 1000 items"},
		{"no id", `{"items":[{"sent":"2026-04-21T03:27:50Z"}]}`, "items[0]: id has"},
		{"an id with a space", `{"items":[{"id":"a b","sent":"2026-04-21T03:27:50Z"}]}`, "items[0]: id has"},
		{"an id with a control character", `{"items":[{"id":"a\u001b[2J","sent":"2026-04-21T03:27:50Z"}]}`, "items[0]: id has"},
		{"an id that is too long", `{"items":[{"id":"` + strings.Repeat("a", 129) + `","sent":"2026-04-21T03:27:50Z"}]}`, "items[0]: id has"},
		{"an id that is a number", `{"items":[{"id":7}]}`, "items[0]: id has the wrong type: number"},
		{"no time", `{"items":[{"id":"a"}]}`, "items[0]: sent is missing"},
		{"a time that is none", `{"items":[{"id":"a","sent":"yesterday"}]}`, "items[0]: sent is not a time"},
		{"a time that is a number", `{"items":[{"id":"a","sent":1776742070}]}`, "items[0]: sent is not a time"},
		{"a status as text", item(`"status":"200"`), "items[1]: status has the wrong type: string"},
		{"a status that HTTP has not", item(`"status":99`), "items[1]: status is 0"},
		{"a negative status", item(`"status":-1`), "items[1]: status is 0"},
		{"a broken latency", item(`"latencyNs":1.5`), "items[1]: latencyNs has the wrong type: number 1.5"},
		{"a negative latency", item(`"latencyNs":-1`), "items[1]: latencyNs is negative"},
		{"a latency of centuries", item(`"latencyNs":9223372036854775807`), "items[1]: latencyNs is longer"},
		{"a latency that is too large a number", item(`"latencyNs":1e99`), "items[1]: latencyNs has the wrong type: number"},
		{"a negative time to wait", item(`"retryAfterNs":-1`), "items[1]: retryAfterNs is negative"},
		{"an intent's id that is too long", item(`"intentId":"` + strings.Repeat("a", 257) + `"`), "items[1]: intentId has more"},
		{"reports that are no list", item(`"reports":{}`), "items[1]: reports has the wrong type: object"},
		{"a negative limit", item(`"reports":[{},{"limit":-1}]`), "items[1]: reports[1]: limit is negative"},
		{"a negative rest", item(`"reports":[{"remaining":-1}]`), "items[1]: reports[0]: remaining is negative"},
		{"a negative window", item(`"reports":[{"windowNs":-1}]`), "items[1]: reports[0]: windowNs is negative"},
		{"a negative reset", item(`"reports":[{"resetNs":-1}]`), "items[1]: reports[0]: resetNs is negative"},
		{"more than an item may have", item(`"reports":[` + strings.Repeat("{},", 4000) + `{}]`), "items[1]: it has more than 8192 bytes"},
		{"a depth without end", strings.Repeat(`{"items":[`, 100_000), "not a batch"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := readBatch([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) || len(all) > 0 {
				t.Errorf("%d observations, error %v, want %q", len(all), err, test.want)
			}
			if err != nil && (len(err.Error()) > 400 || strings.ContainsRune(err.Error(), 0x1b)) {
				t.Errorf("the error is %q", err)
			}
		})
	}
}

func TestTextsOfAnObservationAreScrubbedAndCut(t *testing.T) {
	o := observed(1)
	for _, text := range []*string{&o.Method, &o.Endpoint, &o.Key, &o.Spender, &o.State, &o.Reference, &o.Reports[0].Policy, (*string)(&o.Class)} {
		*text = "a\x1b[2J\r\n\u202e\u200bb" + strings.Repeat("ü", 300)
	}
	o.IntentID = "ci\x1b[2J"
	clean, err := sound(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{clean.Method, clean.Endpoint, clean.Key, clean.Spender, clean.State, clean.Reference, clean.Reports[0].Policy, string(clean.Class), clean.IntentID} {
		if strings.ContainsAny(text, "\x1b\r\n\u202e\u200b") || len(text) > maxObservationText || strings.ContainsRune(text, '\uFFFD') {
			t.Errorf("a text is %q", text)
		}
	}
	if !strings.HasPrefix(clean.IntentID, "ci[2J~") {
		t.Errorf("the intent's id is %q, which may be another's", clean.IntentID)
	}
}
