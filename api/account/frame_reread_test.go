package account

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"tillwatch/api"
)

// Of an intent of which only reads and the end of its timeline are new, a frame holds
// nothing else, and a reader knows as much as the writer.
func TestAnIntentIsWrittenWholeOnlyIfThatIsNew(t *testing.T) {
	s, at := NewStore(StoreConfig{}), noon
	var line *Frame
	frames := FrameWriter{Detail: s.Intent, Put: func(f *Frame) error {
		raw, err := json.Marshal(f)
		if err == nil {
			line, err = ReadFrame(raw)
		}
		return err
	}}
	read := func(state api.IntentState) {
		s.ApplyRead(api.Intent{ID: "ci_1", State: state, CreatedAt: noon, Quantity: 1, Raw: []byte("{}")}, at, ByRead)
	}
	events := 0
	event := func(kind api.EventType, source api.EventSource, created time.Time) {
		events++
		s.ApplyEvents([]Delivery{{Seq: int64(events), Received: at, Event: api.Event{
			ID: api.ID(fmt.Sprint("evt_", events)), Type: kind, CreatedAt: created, Source: source}}}, at)
	}
	shipped := func(created time.Time) {
		event(api.ShipmentUpdated, api.EventSource{ID: "shp_1", Type: api.SourceShipment}, created)
	}
	var known *IntentDetail // by the reader
	since := uint64(0)
	for _, step := range []struct {
		name    string
		happens func()
		whole   bool // the intent is written whole
		moments int  // that a reread holds, but for one that counts reads
	}{
		{name: "it is known", happens: func() { read(api.AwaitingConfirmation) }, whole: true},
		{name: "it is read again", happens: func() { read(api.AwaitingConfirmation) }},
		{name: "and again", happens: func() { read(api.AwaitingConfirmation) }},
		{name: "it completes", happens: func() { read(api.Completed) }, whole: true},
		{name: "it is shipped", happens: func() {
			s.ApplyShipments([]api.Shipment{{ID: "shp_1", IntentID: "ci_1", Status: api.Shipped}}, at)
		}, whole: true},
		{name: "an event of the shipment", happens: func() { shipped(at) }, moments: 1},
		{name: "two events of the shipment", happens: func() { shipped(at); shipped(at) }, moments: 2},
		{name: "it is read after that", happens: func() { read(api.Completed) }},
		{name: "an event behind a read", happens: func() { shipped(at) }, moments: 2}, // the read is no longer the last
		{name: "an event and a read", happens: func() { shipped(at); at = at.Add(time.Second); read(api.Completed) }, moments: 1},
		{name: "an event that comes late", happens: func() { shipped(noon.Add(time.Second)) }, whole: true},
		{name: "an event that moves its times", happens: func() {
			event(api.IntentCompleted, api.EventSource{ID: "ci_1", Type: api.SourceIntent}, noon.Add(2*time.Second))
		}, whole: true},
	} {
		at = at.Add(time.Minute)
		step.happens()
		c := s.Changes(since)
		since = c.Version
		if err := frames.Write(&c); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if whole := len(line.Intents) == 1; whole != step.whole || len(line.Intents)+len(line.Rereads) != 1 {
			t.Fatalf("%s: it writes %d whole and %d in part", step.name, len(line.Intents), len(line.Rereads))
		}
		if step.whole {
			known = line.Intents[0]
		} else {
			if n := len(line.Rereads[0].Moments); n != step.moments {
				t.Errorf("%s: it writes %d moments, want %d", step.name, n, step.moments)
			}
			known = line.Rereads[0].Of(known)
		}
		want, _ := s.Intent("ci_1")
		if got, want := asJSON(t, known), asJSON(t, want.Shared()); got != want {
			t.Fatalf("%s: the reader knows\n%s\nwant\n%s", step.name, got, want)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
