package relay

import (
	"testing"
	"time"

	"tillwatch/relay/journal"
)

const completedBody = `{"id":"evt_ci_1_completed","object":"event","type":"checkout_intent.completed","createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"checkout_intent","id":"ci_1"}}`

func completedRecord(seq int64) journal.Record {
	r := journal.Record{Seq: seq}
	r.ID, r.Type, r.Origin, r.Body = "evt_ci_1_completed", "checkout_intent.completed", journal.Webhook, []byte(completedBody)
	r.Received = time.Date(2026, 4, 21, 3, 27, 51, 123_000_000, time.UTC)
	return r
}

func eventsFrame(t testing.TB, records ...journal.Record) []byte {
	t.Helper()
	text := []byte(`{"t":"ev","items":[`)
	for i, r := range records {
		e, err := encodeAll(r.Seq-1, []journal.Record{r})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, e[0].text...)
	}
	return append(text, "]}"...)
}

func TestAFrameOfEventsIsReadAsItWasSent(t *testing.T) {
	plain := completedRecord(7)
	odd := completedRecord(8)
	odd.Origin, odd.CreatedAt, odd.Duplicates, odd.Conflicts = "elsewhere", odd.Received.In(time.FixedZone("", 3600)), 3, 1
	unreadable := completedRecord(9)
	unreadable.Body = []byte("no event")
	escaped := completedRecord(10)
	escaped.ID = "evt_<1>"
	for _, c := range []struct {
		name    string
		records []journal.Record
	}{
		{"one", []journal.Record{plain}},
		{"several, one of which is no event", []journal.Record{plain, odd, unreadable}},
		{"an id that is escaped", []journal.Record{escaped}},
		{"none", nil},
	} {
		f, err := readFrame(eventsFrame(t, c.records...))
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

func BenchmarkReadFrame(b *testing.B) {
	records := make([]journal.Record, 100)
	for i := range records {
		records[i] = completedRecord(int64(i + 1))
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
