package account

import (
	"fmt"
	"testing"
	"time"

	"tillwatch/api"
)

func TestAnEventIsKnownLongAfterItsPlaceInTheLogIsGone(t *testing.T) {
	s := NewStore(StoreConfig{KeepEvents: 10})
	of := func(n int) Delivery {
		d := intentEvent(n, api.ID("ci_"+string(rune('a'+n%7))), api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))
		if n%5 == 0 {
			d.Event.Source.Type, d.Event.Type = api.SourceShipment, api.ShipmentUpdated
		}
		return d
	}
	const all = 400
	for n := range all {
		s.ApplyEvents([]Delivery{of(n)}, time.Now())
	}
	for n := range all {
		d := of(n)
		d.Seq += 1000
		s.ApplyEvents([]Delivery{d}, time.Now())
	}
	if c := s.Summary().Events; c.Received != all || c.Duplicate != all {
		t.Errorf("%+v, want %d received and each doubled once", c, all)
	}
}

func TestBodiesOfTheOldestEventsGiveWay(t *testing.T) {
	s := NewStore(StoreConfig{})
	const each = mostBodies / 4
	for n := range 6 {
		d := intentEvent(n, "ci_1", api.OfferRetrieved, noon)
		d.Event.Raw = make([]byte, each)
		s.ApplyEvents([]Delivery{d}, time.Now())
	}
	before := s.Changes(0)
	for i, e := range before.Events {
		if kept := len(e.Raw) > 0; kept != (i >= 2) {
			t.Errorf("the body of event %d of 6 is kept: %t", i+1, kept)
		}
	}
	s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation, ProductURL: "https://a.example/mug"}, noon, ByRead)
	for _, e := range s.Changes(0).Events {
		if e.Product != "Mug" {
			t.Errorf("event %s has no product", e.ID)
		}
	}
	if len(before.Events) != 6 || before.Events[0].Product != "" {
		t.Error("what was published has changed")
	}
}

func TestAfterARestartTheEventsOfTimelinesAreKnown(t *testing.T) {
	const all = 60
	f := openSaved(t, t.TempDir())
	s := NewStore(StoreConfig{KeepEvents: 4})
	s.ApplyShipments([]api.Shipment{{ID: "shp_1", IntentID: "ci_1", Status: api.Shipped}}, noon)
	of := func(n int) Delivery {
		d := intentEvent(n, api.ID(fmt.Sprint("ci_", n%3)), api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))
		if n%5 == 0 {
			d.Event.Source, d.Event.Type = api.EventSource{ID: "shp_1", Type: api.SourceShipment}, api.ShipmentUpdated
		}
		return d
	}
	for n := range all {
		s.ApplyEvents([]Delivery{of(n)}, time.Now())
	}
	mustSave(t, f, s)
	before, _ := s.Intent("ci_1")
	again := mustRestore(t, f)
	for n := range all {
		again.ApplyEvents([]Delivery{of(n)}, time.Now())
	}
	after, _ := again.Intent("ci_1")
	if c := again.Summary().Events; c.Received != all || len(after.Timeline) != len(before.Timeline) {
		t.Errorf("%d events received and a timeline of %d, want %d and %d", c.Received, len(after.Timeline), all, len(before.Timeline))
	}
	again.ApplyEvents([]Delivery{of(all)}, time.Now())
	if c := again.Summary().Events; c.Received != all+1 {
		t.Errorf("a new event counts as known: %d received", c.Received)
	}
}
