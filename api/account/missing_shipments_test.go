package account

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestChangesOfAShipmentThatNoEventReportsCountAsMissed(t *testing.T) {
	type stage struct {
		s     *Store
		seq   int64
		start time.Time
	}
	at := func(minute int) time.Duration { return time.Duration(minute) * time.Minute }
	// read is a read of a shipment that went through so many statuses, one a minute.
	read := func(st *stage, statuses ...api.ShipmentStatus) {
		sh := api.Shipment{ID: "shp_1", IntentID: "ci_1", CreatedAt: st.start.Add(at(1))}
		for i, status := range statuses {
			sh.Status, sh.UpdatedAt = status, st.start.Add(at(i+1))
			sh.TrackingEvents = append(sh.TrackingEvents, api.TrackingEvent{Status: status, At: sh.UpdatedAt})
		}
		st.s.ApplyShipments([]api.Shipment{sh}, time.Now())
	}
	// hear is an event that was created in a minute.
	hear := func(st *stage, minute int) {
		st.seq++
		e := api.Event{ID: api.ID(fmt.Sprint("evt_", minute)), Type: api.ShipmentUpdated, CreatedAt: st.start.Add(at(minute)), Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment}}
		st.s.ApplyEvents([]Delivery{{Seq: st.seq, Event: e, Received: time.Now()}}, time.Now())
	}
	overdue := func(st *stage) {
		pass(time.Minute)
		st.s.tick(time.Now())
	}
	cases := []struct {
		name string
		feed FeedState
		play func(st *stage)
		want int
	}{
		{"every event comes before its read", FeedLive, func(st *stage) {
			hear(st, 1)
			read(st, api.Ordered)
			hear(st, 2)
			read(st, api.Ordered, api.Shipped)
		}, 0},
		{"no event of the creation", FeedLive, func(st *stage) { read(st, api.Ordered) }, 1},
		{"no event of a change", FeedLive, func(st *stage) {
			hear(st, 1)
			read(st, api.Ordered)
			read(st, api.Ordered, api.Shipped)
		}, 1},
		{"one event of three changes", FeedLive, func(st *stage) {
			hear(st, 1)
			read(st, api.Ordered)
			hear(st, 4)
			read(st, api.Ordered, api.Shipped, api.OutForDelivery, api.Delivered)
		}, 2},
		{"no event of a scan that leaves the status as it was", FeedLive, func(st *stage) {
			hear(st, 1)
			hear(st, 2)
			read(st, api.Ordered, api.Shipped)
			read(st, api.Ordered, api.Shipped, api.Shipped)
		}, 1},
		{"the same read again", FeedLive, func(st *stage) {
			hear(st, 1)
			read(st, api.Ordered)
			read(st, api.Ordered)
		}, 0},
		{"an event that comes soon after the read", FeedLive, func(st *stage) {
			read(st, api.Ordered)
			pass(10 * time.Second)
			hear(st, 1)
		}, 0},
		{"an event that comes after it was counted", FeedLive, func(st *stage) {
			read(st, api.Ordered)
			overdue(st)
			hear(st, 1)
		}, 0},
		{"one of two that comes after both were counted", FeedLive, func(st *stage) {
			read(st, api.Ordered, api.Shipped)
			overdue(st)
			hear(st, 2)
		}, 1},
		{"without a relay", FeedOff, func(st *stage) {
			read(st, api.Ordered)
			read(st, api.Ordered, api.Shipped)
		}, 0},
		{"as long as the relay is lost", FeedLive, func(st *stage) {
			st.s.SetFeed(FeedStatus{State: FeedLost, Since: time.Now()})
			read(st, api.Ordered)
		}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &stage{s: NewStore(StoreConfig{}), start: time.Now()}
				st.s.SetFeed(FeedStatus{State: c.feed, Since: time.Now()})
				pass(10 * time.Minute)
				c.play(st)
				overdue(st)
				if got := st.s.Summary().Events.Missed; got != c.want {
					t.Errorf("%d events count as missed, want %d", got, c.want)
				}
				overdue(st)
				if got := st.s.Summary().Events.Missed; got != c.want {
					t.Errorf("%d events count as missed a minute later, want %d", got, c.want)
				}
			})
		})
	}
}

func TestAnIntentThatIsFirstSeenAfterItsEventWasLostCountsAsMissed(t *testing.T) {
	cases := []struct {
		name string
		in   api.Intent
		want int
	}{
		{"awaiting confirmation", api.Intent{State: api.AwaitingConfirmation}, 1},
		{"completed", api.Intent{State: api.Completed}, 1},
		{"still retrieving", api.Intent{State: api.RetrievingOffer}, 0},
		{"placing, which has no event", api.Intent{State: api.PlacingOrder}, 0},
		{"expired, which has no event", api.Intent{State: api.Failed, Failure: &api.FailureReason{Code: api.Expired}}, 0},
		{"failed", api.Intent{State: api.Failed, Failure: &api.FailureReason{Code: "product_out_of_stock"}}, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewStore(StoreConfig{})
				before := time.Now()
				pass(time.Hour)
				s.SetFeed(FeedStatus{State: FeedLive, Since: time.Now()})
				pass(time.Minute)
				older := c.in
				c.in.ID, c.in.CreatedAt = "ci_new", time.Now()
				older.ID, older.CreatedAt = "ci_old", before
				s.ApplyList([]api.Intent{c.in, older}, time.Now())
				pass(time.Minute)
				s.tick(time.Now())
				if got := s.Summary().Events.Missed; got != c.want {
					t.Errorf("%d events count as missed, want %d", got, c.want)
				}
			})
		})
	}
}
