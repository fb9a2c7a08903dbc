package account

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

func TestHashSetHoldsWhatWasAddedAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set hashSet
		model := map[uint64]bool{}
		for _, hash := range rapid.SliceOfN(rapid.Uint64Range(0, 1<<18), 0, 4000).Draw(t, "hashes") {
			hash *= 0x9e3779b97f4a7c15
			if set.has(hash) != model[hash] {
				t.Fatalf("has %x: %t, want %t", hash, set.has(hash), model[hash])
			}
			set.add(hash)
			model[hash] = true
		}
		if set.count != len(model) {
			t.Fatalf("%d hashes, want %d", set.count, len(model))
		}
		for hash := range model {
			if !set.has(hash) {
				t.Fatalf("%x is lost", hash)
			}
		}
	})
}

func TestTheOldestKnownEventsAreForgottenFirst(t *testing.T) {
	k := knownEvents{most: 100}
	for hash := uint64(1); hash <= 250; hash++ {
		k.add(hash * 0x9e3779b97f4a7c15)
	}
	for hash := uint64(1); hash <= 250; hash++ {
		if known := k.has(hash * 0x9e3779b97f4a7c15); known != (hash > 100) {
			t.Errorf("event %d of 250 is known: %t", hash, known)
		}
	}
}

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
