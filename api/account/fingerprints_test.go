package account

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

func TestFingerprintsCountWhatWasAddedAndRemoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set fingerprints
		model := map[uint64]int{}
		// Few parts and few fingerprints, so that they meet.
		for _, step := range rapid.SliceOfN(rapid.Uint64Range(0, 1<<12), 0, 3000).Draw(t, "steps") {
			hash := step%2 | step>>1%512*0x9e3779b9<<32
			if set.has(hash) != (model[hash] > 0) {
				t.Fatalf("has %x: %t, want %d of it", hash, set.has(hash), model[hash])
			}
			if step > 1<<11 && model[hash] > 0 {
				set.remove(hash)
				model[hash]--
			} else {
				set.add(hash)
				model[hash]++
			}
		}
		for hash, count := range model {
			for ; count > 0; count-- {
				if !set.has(hash) {
					t.Fatalf("%x is lost", hash)
				}
				set.remove(hash)
			}
			if set.has(hash) {
				t.Fatalf("%x is there too often", hash)
			}
		}
	})
}

func TestFingerprintsThatAreAlikeHaveRoom(t *testing.T) {
	for _, print := range []uint64{1, math.MaxUint32} {
		var set fingerprints
		const many = 500
		for range many {
			set.add(print << 32)
		}
		for n := range many {
			if !set.has(print << 32) {
				t.Fatalf("%d of %d are lost", many-n, many)
			}
			set.remove(print << 32)
		}
		if set.has(print << 32) {
			t.Error("more are there than were added")
		}
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
	again, _ := mustRestore(t, f)
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

func TestAnEventThatALongTimelineGaveUpIsKnown(t *testing.T) {
	s := NewStore(StoreConfig{KeepEvents: 4})
	const all = mostMoments + 50
	for round := range 2 {
		for n := range all {
			d := intentEvent(n, "ci_1", api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))
			d.Seq += int64(round * all)
			s.ApplyEvents([]Delivery{d}, time.Now())
		}
	}
	if c := s.Summary().Events; c.Received != all || c.Duplicate != all {
		t.Errorf("%+v, want %d received and each doubled once", c, all)
	}
}
