package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestEveryFixtureEventDecodes(t *testing.T) {
	for _, f := range fixtures(t, "06-events.json") {
		t.Run(f.Name, func(t *testing.T) {
			got, err := DecodeEvent(f.Body)
			if err != nil {
				t.Fatal(err)
			}
			want := oracle[struct {
				ID, Type  string
				CreatedAt time.Time
				Source    struct{ ID, Type string }
				Data      json.RawMessage
			}](t, f.Body)
			same(t, "id", string(got.ID), want.ID)
			same(t, "type", string(got.Type), want.Type)
			same(t, "created", got.CreatedAt, want.CreatedAt)
			same(t, "source id", string(got.Source.ID), want.Source.ID)
			same(t, "source type", string(got.Source.Type), want.Source.Type)
			same(t, "data", string(got.Data), string(want.Data))
			same(t, "raw", string(got.Raw), string(f.Body))
			if got.Type == ProductUpdated {
				product, err := DecodeProduct(got.Data)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "product of the snapshot", string(product.ID), want.Source.ID)
			}
		})
	}
}

func TestEventTypesProveStates(t *testing.T) {
	proven := map[EventType]IntentState{
		OfferRetrieved: AwaitingConfirmation, IntentCompleted: Completed, OrderFailed: Failed,
		OfferFailed: "", ShipmentCreated: "", ProductUpdated: "", "checkout_intent.placing_order": "",
	}
	for event, want := range proven {
		got, ok := event.ProvenState()
		if got != want || ok != (want != "") {
			t.Errorf("%s proves %q (%t), want %q", event, got, ok, want)
		}
	}
}

func TestEventToleratesWhatIsNew(t *testing.T) {
	got, err := DecodeEvent([]byte(`{
		"id": "whatever:form/of.id", "object": "something", "type": "moon.risen", "createdAt": 5,
		"source": {"type": "moon", "id": "m\u0000oon", "more": 1}, "data": null, "extra": [1]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "id", got.ID, "whatever:form/of.id")
	same(t, "type", got.Type, "moon.risen")
	same(t, "source type", got.Source.Type, "moon")
	same(t, "created is zero", got.CreatedAt.IsZero(), true)
	same(t, "data is absent", got.Data == nil, true)
	same(t, "source id is told apart", strings.HasPrefix(string(got.Source.ID), "moon~"), true)
}

func TestEventWithoutWhatTheContractRequiresIsRefused(t *testing.T) {
	tests := []struct{ name, body, says string }{
		{"no id", `{"type":"a","source":{"id":"b","type":"c"}}`, "decode event: id is missing"},
		{"empty id", `{"id":"","type":"a","source":{"id":"b","type":"c"}}`, "decode event: id is missing"},
		{"numeric id", `{"id":7,"type":"a","source":{"id":"b","type":"c"}}`, "decode event: id is missing"},
		{"no type", `{"id":"e","source":{"id":"b","type":"c"}}`, "decode event: type is missing"},
		{"no source", `{"id":"e","type":"a"}`, "source.id is missing"},
		{"source as a string", `{"id":"e","type":"a","source":"ci_1"}`, "source.id is missing"},
		{"source without a type", `{"id":"e","type":"a","source":{"id":"b"}}`, "source.type is missing"},
		{"type of controls only", `{"id":"e","type":"\u001b\u200b","source":{"id":"b","type":"c"}}`, "type is missing"},
		{"an array", `[1]`, "got an array"},
		{"no JSON", `event`, "invalid JSON at byte 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeEvent([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, %v; want an error that says %q", got, err, test.says)
			}
		})
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, c := range fixtures(f, "06-events.json") {
		f.Add([]byte(c.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		event, err := DecodeEvent(body)
		if err != nil {
			return
		}
		if event.ID == "" || event.Type == "" || event.Source.ID == "" || event.Source.Type == "" {
			t.Fatalf("a required field is empty: %v", event)
		}
		if !bytes.Equal(event.Raw, body) || event.Data != nil && !json.Valid(event.Data) {
			t.Fatal("raw or data is not what came")
		}
		for _, text := range []string{string(event.ID), string(event.Type), string(event.Source.ID), string(event.Source.Type)} {
			if forbidden := findForbidden(text); forbidden != "" {
				t.Fatalf("%q holds %s", text, forbidden)
			}
		}
		again, err := DecodeEvent(event.Raw)
		if err != nil || again.ID != event.ID {
			t.Fatalf("raw decodes to %v, %v", again, err)
		}
	})
}

// thinEvents are bodies around the form that the service sends.
var thinEvents = []struct {
	name, body string
	scanned    bool
}{
	{"as it is sent", `{"id":"evt_ci_1_completed","object":"event","type":"checkout_intent.completed","createdAt":"2026-06-18T14:02:43.000Z","source":{"type":"checkout_intent","id":"ci_1"}}`, true},
	{"in another order", `{"source":{"id":"ci_1","type":"checkout_intent"},"createdAt":"2026-06-18T14:02:43Z","type":"moon.risen","object":"event","id":"e"}`, true},
	{"with blanks", "{ \"id\" : \"e\",\n\t\"type\":\"t\", \"source\": { \"id\":\"s\" , \"type\":\"k\" } }\r\n", true},
	{"without a moment", `{"id":"e","type":"t","source":{"id":"s","type":"k"}}`, true},
	{"at the end of a long February", `{"id":"e","type":"t","createdAt":"2024-02-29T23:59:59.123456789Z","source":{"id":"s","type":"k"}}`, true},
	{"on a day that is none", `{"id":"e","type":"t","createdAt":"2026-02-29T23:59:59Z","source":{"id":"s","type":"k"}}`, false},
	{"in a second that is none", `{"id":"e","type":"t","createdAt":"2026-02-20T23:59:60Z","source":{"id":"s","type":"k"}}`, false},
	{"with an offset", `{"id":"e","type":"t","createdAt":"2026-02-20T23:59:59+01:00","source":{"id":"s","type":"k"}}`, false},
	{"with a fraction of nothing", `{"id":"e","type":"t","createdAt":"2026-02-20T23:59:59.Z","source":{"id":"s","type":"k"}}`, false},
	{"with data", `{"id":"e","type":"t","source":{"id":"s","type":"k"},"data":{"a":1}}`, false},
	{"with data that is null", `{"id":"e","type":"t","source":{"id":"s","type":"k"},"data":null}`, false},
	{"with an escape", `{"id":"e\u0041","type":"t","source":{"id":"s","type":"k"}}`, false},
	{"with an escaped key", `{"i\u0064":"e","type":"t","source":{"id":"s","type":"k"}}`, false},
	{"with a control", "{\"id\":\"e\u200b\",\"type\":\"t\",\"source\":{\"id\":\"s\",\"type\":\"k\"}}", false},
	{"with a repeated field", `{"id":"e","id":"f","type":"t","source":{"id":"s","type":"k"}}`, false},
	{"with a repeated source", `{"id":"e","type":"t","source":{"id":"s","type":"k"},"source":{"id":"u","type":"k"}}`, false},
	{"with a repeated source id", `{"id":"e","type":"t","source":{"id":"","id":"s","type":"k"}}`, false},
	{"with an unknown field", `{"id":"e","type":"t","new":"x","source":{"id":"s","type":"k"}}`, false},
	{"with a long id", `{"id":"` + strings.Repeat("e", 300) + `","type":"t","source":{"id":"s","type":"k"}}`, false},
	{"with a comma too many", `{"id":"e","type":"t","source":{"id":"s","type":"k"},}`, false},
	{"with something behind it", `{"id":"e","type":"t","source":{"id":"s","type":"k"}}{}`, false},
	{"cut off", `{"id":"e","type":"t","source":{"id":"s","type":"k"}`, false},
	{"of nothing", `{}`, false},
}

func TestScannerReadsWhatTheGeneralDecoderReads(t *testing.T) {
	for _, test := range thinEvents {
		t.Run(test.name, func(t *testing.T) {
			if _, scanned := ScanEvent([]byte(test.body)); scanned != test.scanned {
				t.Errorf("scanned: %t, want %t", scanned, test.scanned)
			}
			compareScanned(t, []byte(test.body))
		})
	}
	for _, f := range fixtures(t, "06-events.json") {
		_, scanned := ScanEvent(f.Body)
		if thin := !bytes.Contains(f.Body, []byte(`"data"`)); scanned != thin {
			t.Errorf("%s: scanned: %t, thin: %t", f.Name, scanned, thin)
		}
	}
}

func compareScanned(t *testing.T, body []byte) {
	t.Helper()
	got, ok := ScanEvent(body)
	if !ok {
		return
	}
	want, err := decodeEvent(body)
	if err != nil {
		t.Fatalf("scanned %+v, which the general decoder refuses: %v", got, err)
	}
	want.Raw = nil
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("scanned %+v, the general decoder reads %+v", got, want)
	}
}

func FuzzDecodeEventScanned(f *testing.F) {
	for _, c := range fixtures(f, "06-events.json") {
		f.Add([]byte(c.Body))
	}
	for _, test := range thinEvents {
		f.Add([]byte(test.body))
	}
	f.Fuzz(compareScanned)
}

func TestScannedEventSharesNoMemoryWithTheBody(t *testing.T) {
	body := []byte(thinEvents[0].body)
	got, err := DecodeEvent(body)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = 'x'
	}
	if got.ID != "evt_ci_1_completed" || got.Source.ID != "ci_1" || string(got.Raw) != thinEvents[0].body {
		t.Errorf("the event changed with the buffer: %v", got)
	}
}

var eventSink Event

func BenchmarkDecodeEvent(b *testing.B) {
	body := compact(b, fixtureNamed(b, "06-events.json", "checkout_intent.offer_retrieved"))
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		eventSink, _ = DecodeEvent(body)
	}
}

// BenchmarkDecodeEventGeneral is what an event costs that is not of the known
// form.
func BenchmarkDecodeEventGeneral(b *testing.B) {
	body := compact(b, fixtureNamed(b, "06-events.json", "checkout_intent.offer_retrieved"))
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		eventSink, _ = decodeEvent(body)
	}
}
