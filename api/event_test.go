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

// TestEventsAroundTheThinForm reads bodies that are nearly what the service sends.
func TestEventsAroundTheThinForm(t *testing.T) {
	at := time.Date(2026, 6, 18, 14, 2, 43, 0, time.UTC)
	leap := time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.UTC)
	for _, test := range []struct {
		name, body string
		want       Event // without Raw; none: it is refused
	}{
		{"as it is sent", `{"id":"evt_ci_1_completed","object":"event","type":"checkout_intent.completed","createdAt":"2026-06-18T14:02:43.000Z","source":{"type":"checkout_intent","id":"ci_1"}}`,
			Event{ID: "evt_ci_1_completed", Type: IntentCompleted, CreatedAt: at, Source: EventSource{"ci_1", SourceIntent}}},
		{"in another order", `{"source":{"id":"ci_1","type":"checkout_intent"},"createdAt":"2026-06-18T14:02:43Z","type":"moon.risen","object":"event","id":"e"}`,
			Event{ID: "e", Type: "moon.risen", CreatedAt: at, Source: EventSource{"ci_1", SourceIntent}}},
		{"with blanks", "{ \"id\" : \"e\",\n\t\"type\":\"t\", \"source\": { \"id\":\"s\" , \"type\":\"k\" } }\r\n", thin("e")},
		{"without a moment", `{"id":"e","type":"t","source":{"id":"s","type":"k"}}`, thin("e")},
		{"at the end of a long February", `{"id":"e","type":"t","createdAt":"2024-02-29T23:59:59.123456789Z","source":{"id":"s","type":"k"}}`, thinAt("e", leap)},
		{"on a day that does not exist", `{"id":"e","type":"t","createdAt":"2026-02-29T23:59:59Z","source":{"id":"s","type":"k"}}`, thin("e")},
		{"with an offset", `{"id":"e","type":"t","createdAt":"2026-06-18T15:02:43+01:00","source":{"id":"s","type":"k"}}`, thinAt("e", at)},
		{"with data that is null", `{"id":"e","type":"t","source":{"id":"s","type":"k"},"data":null}`, thin("e")},
		{"with an escape", `{"id":"e\u0041","type":"t","source":{"id":"s","type":"k"}}`, thin("eA")},
		{"with an escaped key", `{"i\u0064":"e","type":"t","source":{"id":"s","type":"k"}}`, thin("e")},
		{"with a control", "{\"id\":\"e\u200b\",\"type\":\"t\",\"source\":{\"id\":\"s\",\"type\":\"k\"}}", thin(ScrubID("e\u200b"))},
		{"with a repeated field", `{"id":"e","id":"f","type":"t","source":{"id":"s","type":"k"}}`, thin("f")},
		{"with a repeated source", `{"id":"e","type":"t","source":{"id":"u","type":"j"},"source":{"id":"s","type":"k"}}`, thin("e")},
		{"with an unknown field", `{"id":"e","type":"t","new":"x","source":{"id":"s","type":"k"}}`, thin("e")},
		{"with a comma too many", `{"id":"e","type":"t","source":{"id":"s","type":"k"},}`, Event{}},
		{"with something behind it", `{"id":"e","type":"t","source":{"id":"s","type":"k"}}{}`, Event{}},
		{"cut off", `{"id":"e","type":"t","source":{"id":"s","type":"k"}`, Event{}},
		{"of nothing", `{}`, Event{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeEvent([]byte(test.body))
			if refused := test.want.ID == ""; refused != (err != nil) {
				t.Fatalf("error %v", err)
			}
			got.Raw = nil
			if !got.CreatedAt.Equal(test.want.CreatedAt) {
				t.Errorf("created at %v, want %v", got.CreatedAt, test.want.CreatedAt)
			}
			got.CreatedAt, test.want.CreatedAt = time.Time{}, time.Time{}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}

func thin(id ID) Event { return thinAt(id, time.Time{}) }

func thinAt(id ID, at time.Time) Event {
	return Event{ID: id, Type: "t", CreatedAt: at, Source: EventSource{"s", "k"}}
}

func TestAnEventSharesNoMemoryWithTheBody(t *testing.T) {
	const sent = `{"id":"evt_ci_1_completed","type":"checkout_intent.completed","source":{"type":"checkout_intent","id":"ci_1"},"data":{"a":1}}`
	body := []byte(sent)
	got, err := DecodeEvent(body)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = 'x'
	}
	if got.ID != "evt_ci_1_completed" || got.Source.ID != "ci_1" || string(got.Raw) != sent || string(got.Data) != `{"a":1}` {
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
