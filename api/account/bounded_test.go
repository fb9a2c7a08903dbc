package account

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"tillwatch/api"
)

// TestWhatPassesThroughIsLetGo has many times more intents live through their whole
// life than are kept. What is kept is right, whoever follows the changes has the
// same, and memory stays as it is.
func TestWhatPassesThroughIsLetGo(t *testing.T) {
	const kept, lives = 400, 20_000
	s := NewStore(StoreConfig{KeepIntents: kept, KeepEvents: 300})
	seen := map[api.ID]*Intent{}
	shipments := map[api.ID]*Shipment{}
	version := uint64(0)
	follow := func() {
		c := s.Changes(version)
		if c.Whole && version > 0 {
			t.Fatal("the whole picture was sent anew")
		}
		for _, id := range c.GoneIntents {
			delete(seen, id)
		}
		for _, id := range c.GoneShipments {
			delete(shipments, id)
		}
		for _, in := range c.Intents {
			seen[in.ID] = in
		}
		for _, sh := range c.Shipments {
			shipments[sh.ID] = sh
		}
		version = c.Version
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	open := api.ID("ci_open")
	s.ApplyRead(api.Intent{ID: open, State: api.AwaitingConfirmation, CreatedAt: noon}, noon, ByRead)
	var half uint64
	for n := range lives {
		s.ApplyEvents(passThrough(n), noon)
		s.ApplyShipments([]api.Shipment{{ID: api.ID(fmt.Sprint("shp_", n)), IntentID: benchID(n), Status: api.Shipped}}, noon)
		if n%7 == 0 {
			s.ApplyRead(benchRead(benchID(n), n, true), noon.Add(time.Duration(n+1)*time.Second), ByRead)
		}
		if n%50 == 0 {
			follow()
		}
		if n == lives/2 {
			half = heap()
		}
	}
	follow()
	end := heap()
	if end > half+half/20 {
		t.Errorf("%d bytes after half of the lives and %d at their end", half, end)
	}
	sum := s.Summary()
	held := sum.Intents[api.Completed]
	if held < kept || held > kept+kept/16 || sum.Intents[api.AwaitingConfirmation] != 1 || sum.LetGo != lives-held {
		t.Errorf("counted as %v, %d let go", sum.Intents, sum.LetGo)
	}
	if n := sum.Shipments[api.Shipped]; n != held {
		t.Errorf("%d shipments of %d intents", n, held)
	}
	if len(seen) != held+1 || len(shipments) != held {
		t.Errorf("whoever follows has %d intents and %d shipments, want %d and %d", len(seen), len(shipments), held+1, held)
	}
	for n := lives - kept; n < lives; n++ {
		in, known := s.Intent(benchID(n))
		if !known || in.State != api.Completed || len(in.Shipments) != 1 || seen[in.ID] == nil || seen[in.ID].Version != in.Version {
			t.Fatalf("one of the newest is %+v, followed as %+v", in, seen[benchID(n)])
		}
	}
	if s.intents.get(open) == nil {
		t.Error("an open intent was let go")
	}
	for what, n := range map[string]int{
		"endings": len(s.intents.ended) - kept, "expected events": len(s.missing.intents) - kept, "shipments' debts": len(s.missing.shipments) - kept,
		"changes": len(s.intents.changed) - 3*kept, "alerts": len(s.alerts.standing) - kept, "sources": len(s.events.bySource) - 300,
	} {
		if n > 100 {
			t.Errorf("%d %s too many are kept", n, what)
		}
	}
	again := passThrough(lives - kept - 100)
	before := sum.Events
	s.ApplyEvents(again, noon)
	if c := s.Summary().Events; c.Received != before.Received || c.Duplicate != before.Duplicate+len(again) {
		t.Errorf("events of an intent that was let go count as %+v, after %+v", c, before)
	}
	if s.ApplyList([]api.Intent{{ID: benchID(lives - kept - 100), State: api.Completed, CreatedAt: noon}}, noon.Add(time.Hour)); s.intents.get(benchID(lives-kept-100)) != nil {
		t.Error("an intent that was let go is back by a list")
	}
}

// passThrough are the events of the life of one intent.
func passThrough(n int) []Delivery {
	id, at := benchID(n), noon.Add(time.Duration(n)*time.Second)
	event := func(k int, t api.EventType, source api.EventSource) Delivery {
		return Delivery{Seq: int64(10*n + k + 1), Received: at, Event: api.Event{
			ID: api.ID(fmt.Sprintf("evt_%d_%d", n, k)), Type: t, CreatedAt: at, Source: source, Raw: make([]byte, 200),
		}}
	}
	own := api.EventSource{ID: id, Type: api.SourceIntent}
	all := []Delivery{event(0, api.OfferRetrieved, own)}
	for k := 1; k < 8; k++ {
		all = append(all, event(k, "checkout_intent.noted", own))
	}
	return append(all, event(8, api.IntentCompleted, own))
}
