package account

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestAnUpdateOfAShipmentSaysToWhatAsFarAsReadsProveIt(t *testing.T) {
	type stage struct {
		s     *Store
		start time.Time
		seq   int64
	}
	at := func(st *stage, second float64) time.Time {
		return st.start.Add(time.Duration(second * float64(time.Second)))
	}
	// hear is an event that was created in a second.
	hear := func(st *stage, second float64, kind api.EventType) {
		st.seq++
		e := api.Event{ID: api.ID(fmt.Sprint("evt_", second)), Type: kind, CreatedAt: at(st, second), Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment}}
		st.s.ApplyEvents([]Delivery{{Seq: st.seq, Event: e, Received: time.Now()}}, time.Now())
	}
	updated := func(st *stage, seconds ...float64) {
		for _, second := range seconds {
			hear(st, second, api.ShipmentUpdated)
		}
	}
	// read is a read of a shipment that was updated last in a second, with scans.
	read := func(st *stage, status api.ShipmentStatus, second float64, scans ...api.TrackingEvent) {
		sh := api.Shipment{ID: "shp_1", Status: status, CreatedAt: st.start, UpdatedAt: at(st, second), TrackingEvents: scans}
		pass(time.Millisecond)
		st.s.ApplyShipments([]api.Shipment{sh}, time.Now())
	}
	scan := func(st *stage, status api.ShipmentStatus, second float64) api.TrackingEvent {
		return api.TrackingEvent{Status: status, At: at(st, second)}
	}
	cases := []struct {
		name string
		play func(st *stage)
		want map[api.ID]api.ShipmentStatus
	}{
		{"the read comes behind the event", func(st *stage) {
			updated(st, 10)
			read(st, api.Shipped, 10)
		}, map[api.ID]api.ShipmentStatus{"evt_10": api.Shipped}},
		{"the read is there before the event", func(st *stage) {
			read(st, api.Shipped, 10)
			updated(st, 10)
		}, map[api.ID]api.ShipmentStatus{"evt_10": api.Shipped}},
		{"what was told stays when the shipment moves on", func(st *stage) {
			updated(st, 10)
			read(st, api.Delayed, 10)
			updated(st, 20)
			read(st, api.Delivered, 20)
		}, map[api.ID]api.ShipmentStatus{"evt_10": api.Delayed, "evt_20": api.Delivered}},
		{"the service writes its event a little later", func(st *stage) {
			updated(st, 10.4)
			read(st, api.Delayed, 10)
		}, map[api.ID]api.ShipmentStatus{"evt_10.4": api.Delayed}},
		{"nothing is read yet", func(st *stage) { updated(st, 10) }, map[api.ID]api.ShipmentStatus{"evt_10": ""}},
		{"the read is older than the event", func(st *stage) {
			read(st, api.Shipped, 10)
			updated(st, 20)
		}, map[api.ID]api.ShipmentStatus{"evt_20": ""}},
		{"the shipment has moved on before it is read", func(st *stage) {
			updated(st, 10, 20)
			read(st, api.Delivered, 20)
		}, map[api.ID]api.ShipmentStatus{"evt_10": "", "evt_20": api.Delivered}},
		{"it has moved on, and its scans tell of that", func(st *stage) {
			updated(st, 10, 20)
			read(st, api.Delivered, 20, scan(st, api.Ordered, 0), scan(st, api.Shipped, 10), scan(st, api.Delivered, 20))
		}, map[api.ID]api.ShipmentStatus{"evt_10": api.Shipped, "evt_20": api.Delivered}},
		{"scans that belong to no event", func(st *stage) {
			updated(st, 10)
			read(st, api.Delivered, 40, scan(st, api.Shipped, 13), scan(st, api.OutForDelivery, 30))
		}, map[api.ID]api.ShipmentStatus{"evt_10": ""}},
		{"two updates at nearly the same time", func(st *stage) {
			updated(st, 10, 10.5)
			read(st, api.OutForDelivery, 10.5, scan(st, api.Shipped, 10), scan(st, api.OutForDelivery, 10.5))
		}, map[api.ID]api.ShipmentStatus{"evt_10": api.Shipped, "evt_10.5": api.OutForDelivery}},
		{"a creation says nothing more", func(st *stage) {
			hear(st, 10, api.ShipmentCreated)
			read(st, api.Ordered, 10)
		}, map[api.ID]api.ShipmentStatus{"evt_10": ""}},
		{"a shipment without times", func(st *stage) {
			updated(st, 10)
			st.s.ApplyShipments([]api.Shipment{{ID: "shp_1", Status: api.Shipped}}, time.Now())
		}, map[api.ID]api.ShipmentStatus{"evt_10": ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &stage{s: NewStore(StoreConfig{}), start: time.Now()}
				c.play(st)
				got := map[api.ID]api.ShipmentStatus{}
				for _, e := range st.s.Changes(0).Events {
					got[e.ID] = e.Status
				}
				if !maps.Equal(got, c.want) {
					t.Errorf("events tell of %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestWhatAnUpdateHasLedToIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		now := time.Now()
		e := api.Event{ID: "evt_1", Type: api.ShipmentUpdated, CreatedAt: now, Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment}}
		s.ApplyEvents([]Delivery{{Seq: 1, Event: e, Received: now}}, now)
		before := s.Changes(0)
		s.ApplyShipments([]api.Shipment{{ID: "shp_1", Status: api.Delayed, UpdatedAt: now}}, now)
		after := s.Changes(before.Version)
		if !slices.ContainsFunc(after.Events, func(e *Event) bool { return e.ID == "evt_1" && e.Status == api.Delayed }) {
			t.Errorf("of the read the changes tell %+v", after.Events)
		}
		if got := before.Events[0].Status; got != "" {
			t.Errorf("what was published has become %q", got)
		}
	})
}
