package relay

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

func eventsFrame(t testing.TB, records ...journal.Record) []byte {
	t.Helper()
	text := []byte(`{"t":"ev","items":[`)
	for i, r := range records {
		e, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, e.text...)
	}
	return append(text, "]}"...)
}

const scannedBody = `{"id":"evt_ci_1_completed","object":"event","type":"checkout_intent.completed","createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"checkout_intent","id":"ci_1"}}`

var scannedAt = time.Date(2026, 4, 21, 3, 27, 51, 123_000_000, time.UTC)

func TestAFrameOfEventsIsScannedAsTheGeneralDecoderReadsIt(t *testing.T) {
	plain := journal.Record{Seq: 7}
	plain.ID, plain.Type, plain.Origin, plain.Received, plain.Body = "evt_ci_1_completed", "checkout_intent.completed", journal.Webhook, scannedAt, []byte(scannedBody)
	odd := plain
	odd.Seq, odd.Origin, odd.CreatedAt, odd.Duplicates, odd.Conflicts = 8, "elsewhere", scannedAt.In(time.FixedZone("", 3600)), 3, 1
	unreadable := plain
	unreadable.Seq, unreadable.Body = 9, []byte("no event")
	escaped := plain
	escaped.ID = "evt_<1>"
	for _, c := range []struct {
		name    string
		records []journal.Record
		scanned bool
	}{
		{"one", []journal.Record{plain}, true},
		{"several, one of which is no event", []journal.Record{plain, odd, unreadable}, true},
		{"an id that is escaped", []journal.Record{escaped}, false},
		{"none", nil, false},
	} {
		text := eventsFrame(t, c.records...)
		if _, ok := scanEvents(text); ok != c.scanned {
			t.Errorf("%s: scanned %t, want %t", c.name, ok, c.scanned)
		}
		f, err := readFrame(text)
		if err != nil || f.T != frameEvents || len(f.events) != len(c.records) {
			t.Fatalf("%s: %d events of a frame %q, %v", c.name, len(f.events), f.T, err)
		}
		for i, r := range c.records {
			if got := f.events[i]; got.Seq != r.Seq || string(got.Event.Raw) != string(r.Body) || !got.Received.Equal(r.Received) || got.Duplicates != r.Duplicates || got.Conflicts != r.Conflicts {
				t.Errorf("%s: %+v, want %+v", c.name, got, r)
			}
		}
	}
}

// FuzzScanEvents compares what is scanned with what the general decoder reads.
func FuzzScanEvents(f *testing.F) {
	r := journal.Record{Seq: 7}
	r.ID, r.Type, r.Origin, r.Received, r.Body = "evt_1", "checkout_intent.completed", journal.Webhook, scannedAt, []byte(scannedBody)
	f.Add(eventsFrame(f, r))
	f.Add(eventsFrame(f, r, r))
	f.Add([]byte(`{"t":"ev","items":[{"seq":01,"id":"","type":"","src":"","dups":0,"raw":""}]}`))
	f.Add([]byte(`{"t":"ev","items":[{"seq":1,"id":"a","type":"b","at":"2026-04-21T03:27:50+01:00","src":"x","dups":0,"conflicts":2,"raw":"e30="}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		items, ok := scanEvents(text)
		if !ok {
			return
		}
		var general frame
		if err := json.Unmarshal(text, &general); err != nil || general.T != frameEvents {
			t.Fatalf("scanned %q, which the decoder refuses: %v", text, err)
		}
		if len(items) != len(general.Items) {
			t.Fatalf("%d items, want %d", len(items), len(general.Items))
		}
		for i, wire := range general.Items {
			if want := itemFrom(wire); !reflect.DeepEqual(items[i], want) {
				t.Fatalf("%+v, want %+v", items[i], want)
			}
		}
	})
}

func BenchmarkReadFrame(b *testing.B) {
	r := journal.Record{Seq: 7}
	r.ID, r.Type, r.Origin, r.Received, r.Body = "evt_ci_1_completed", "checkout_intent.completed", journal.Webhook, scannedAt, []byte(scannedBody)
	records := make([]journal.Record, 100)
	for i := range records {
		records[i] = r
	}
	text := eventsFrame(b, records...)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := readFrame(text); err != nil {
			b.Fatal(err)
		}
	}
}
