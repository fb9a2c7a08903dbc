package account

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestAShipmentDoesNotBringBackAnIntentThatWasLetGo(t *testing.T) {
	const old, shipment = api.ID("ci_old"), api.ID("shp_old")
	read := []api.Shipment{{ID: shipment, IntentID: old, Status: api.Shipped, UpdatedAt: noon}}
	event := func(n int) []Delivery {
		return []Delivery{{Seq: int64(n), Received: noon, Event: api.Event{
			ID: api.ID(fmt.Sprint("evt_late_", n)), Type: api.ShipmentUpdated, CreatedAt: noon.Add(time.Hour),
			Source: api.EventSource{ID: shipment, Type: api.SourceShipment},
		}}}
	}
	cases := []struct {
		name          string
		before, after func(s *Store)
	}{
		{"an event of a known one", func(s *Store) { s.ApplyShipments(read, noon) }, func(s *Store) { s.ApplyEvents(event(90), noon) }},
		{"a read of a known one", func(s *Store) { s.ApplyShipments(read, noon) }, func(s *Store) { s.ApplyShipments(read, noon.Add(time.Hour)) }},
		{"a read of a new one", func(*Store) {}, func(s *Store) { s.ApplyShipments(read, noon) }},
		{"a read of one that an event named", func(*Store) {}, func(s *Store) {
			s.ApplyEvents(event(91), noon)
			s.ApplyShipments(read, noon)
			s.ApplyEvents(event(92), noon)
		}},
		{"a list of the intent's, which was under way", func(*Store) {}, func(s *Store) { s.ApplyIntentShipments(old, read, noon) }},
		{"a read of a known one that finds nothing", func(s *Store) { s.ApplyShipments(read, noon) }, func(s *Store) { s.ApplyMissingShipment(shipment, noon.Add(time.Hour)) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{KeepIntents: 1})
			s.ApplyEvents([]Delivery{intentEvent(1, old, api.IntentCompleted, noon)}, noon)
			c.before(s)
			s.ApplyEvents([]Delivery{intentEvent(2, "ci_new", api.IntentCompleted, noon.Add(time.Minute))}, noon)
			if _, known := s.Intent(old); known {
				t.Fatal("the old intent was not let go")
			}
			c.after(s)
			_, intent := s.Intent(old)
			_, parcel := s.Shipment(shipment)
			if sum := s.Summary(); intent || parcel || sum.LetGo != 1 || sum.NotRead != 0 || len(sum.Shipments) != 0 {
				t.Errorf("the intent is back: %t, its shipment: %t; counted are %d not read and the shipments %v", intent, parcel, sum.NotRead, sum.Shipments)
			}
		})
	}
}

func TestNoEventIsMissedOfAShipmentThatWasLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := NewStore(StoreConfig{KeepIntents: 1}), time.Now()
		s.SetFeed(FeedStatus{State: FeedLive})
		pass(time.Minute)
		s.ApplyEvents([]Delivery{intentEvent(1, "ci_old", api.IntentCompleted, start), intentEvent(2, "ci_new", api.IntentCompleted, time.Now())}, time.Now())
		sh := api.Shipment{ID: "shp_old", Status: api.Ordered, CreatedAt: time.Now(), UpdatedAt: time.Now()}
		s.ApplyShipments([]api.Shipment{sh}, time.Now()) // it does not name its intent
		sh.IntentID = "ci_old"
		s.ApplyShipments([]api.Shipment{sh}, time.Now())
		if _, known := s.Shipment(sh.ID); known {
			t.Fatal("the shipment was not let go")
		}
		pass(time.Hour)
		s.tick(time.Now())
		if missed := s.Summary().Events.Missed; missed != 0 {
			t.Errorf("%d events count as missed, want none", missed)
		}
	})
}

// TestWhatNoReadReachesIsLetGoAnHourAfterItsWindow is a day on which more happens than the quota lets tillwatch read.
func TestWhatNoReadReachesIsLetGoAnHourAfterItsWindow(t *testing.T) {
	const kept = 100
	for _, kind := range []api.EventType{api.OfferRetrieved, api.OfferFailed} {
		t.Run(string(kind), func(t *testing.T) {
			s := NewStore(StoreConfig{KeepIntents: kept})
			for n := range 3 * kept {
				at := noon.Add(time.Duration(n) * time.Second)
				s.ApplyEvents([]Delivery{intentEvent(n, benchID(n), kind, at)}, at)
			}
			held := func() int { return len(s.intents.byID) }
			closed := noon.Add(3*kept*time.Second + api.ConfirmWindow)
			if s.tick(closed); held() != 3*kept {
				t.Fatalf("%d are kept when the windows have just closed, want all %d", held(), 3*kept)
			}
			if s.tick(closed.Add(lapsed)); held() != kept {
				t.Errorf("%d are kept an hour later, want %d", held(), kept)
			}
		})
	}
}
