package account

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func intentEvent(n int, id api.ID, t api.EventType, at time.Time) Delivery {
	return Delivery{Seq: int64(n), Received: at, Origin: "webhook", Event: api.Event{
		ID: api.ID(fmt.Sprintf("evt_%d", n)), Type: t, CreatedAt: at,
		Source: api.EventSource{ID: id, Type: api.SourceIntent},
	}}
}

func TestChangesReportEachChangeOnce(t *testing.T) {
	s := NewStore(StoreConfig{})
	if c := s.Changes(0); c.Version != 0 || len(c.Intents) != 0 {
		t.Fatalf("an empty picture says %+v", c)
	}
	s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.OfferRetrieved, noon), intentEvent(2, "ci_2", api.OfferRetrieved, noon)}, time.Now())
	first := s.Changes(0)
	if len(first.Intents) != 2 || len(first.Events) != 2 {
		t.Fatalf("%d intents and %d events, want 2 and 2", len(first.Intents), len(first.Events))
	}
	if again := s.Changes(first.Version); len(again.Intents)+len(again.Events) != 0 || again.Version != first.Version {
		t.Fatalf("nothing has changed, but %+v", again)
	}
	whole, _ := s.Intent("ci_1")
	s.ApplyEvents([]Delivery{intentEvent(3, "ci_1", api.IntentCompleted, noon.Add(time.Minute))}, time.Now())
	second := s.Changes(first.Version)
	if len(second.Intents) != 1 || second.Intents[0].State != api.Completed || len(second.Events) != 1 {
		t.Fatalf("second change %+v", second)
	}
	if first.Intents[0].State != api.AwaitingConfirmation || len(whole.Timeline) != 1 {
		t.Error("what was published has changed")
	}
	if second.Intents[0].Version != second.Version {
		t.Errorf("intent at version %d of %d", second.Intents[0].Version, second.Version)
	}
}

func TestChangesReportWhatIsNoLongerKept(t *testing.T) {
	s := NewStore(StoreConfig{KeepEvents: 10})
	deliver := func(from, to int) {
		for n := from; n < to; n++ {
			s.ApplyEvents([]Delivery{intentEvent(n, "ci_1", api.OfferRetrieved, noon)}, time.Now())
		}
	}
	deliver(0, 4)
	early := s.Changes(0)
	deliver(4, 10)
	full := s.Changes(0)
	deliver(10, 25)
	for _, c := range []struct {
		name         string
		since        uint64
		kept, missed int
	}{
		{"everything", 0, 10, 15},
		{"since the fourth", early.Version, 10, 11},
		{"since the tenth", full.Version, 10, 5},
		{"since now", s.Changes(0).Version, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.Changes(c.since)
			if len(got.Events) != c.kept || got.EventsSkipped != c.missed {
				t.Errorf("%d events and %d skipped, want %d and %d", len(got.Events), got.EventsSkipped, c.kept, c.missed)
			}
			for i := 1; i < len(got.Events); i++ {
				if got.Events[i].Seq < got.Events[i-1].Seq {
					t.Fatal("events are not the oldest first")
				}
			}
		})
	}
}

func TestProductNameReachesEventsThatCameBeforeIt(t *testing.T) {
	s := NewStore(StoreConfig{})
	s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.OfferRetrieved, noon)}, time.Now())
	s.ApplyEvents([]Delivery{{Seq: 2, Event: api.Event{ID: "evt_s", Type: api.ShipmentCreated, CreatedAt: noon,
		Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment}}}}, time.Now())

	s.ApplyShipments([]api.Shipment{{ID: "shp_1", IntentID: "ci_1", Status: api.Ordered}}, noon)
	before := s.Changes(0)
	s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation, ProductURL: "https://shop.example/products/desk-lamp"}, noon, ByRead)
	c := s.Changes(before.Version)
	if len(c.Events) != 2 || c.Events[0].Product != "Desk Lamp" || c.Events[1].Product != "Desk Lamp" {
		t.Fatalf("events %+v", c.Events)
	}
	if len(c.Shipments) != 1 || c.Shipments[0].Product != "Desk Lamp" {
		t.Fatalf("shipments %+v", c.Shipments)
	}
	s.ApplyEvents([]Delivery{intentEvent(3, "ci_1", api.IntentCompleted, noon.Add(time.Minute))}, time.Now())
	c = s.Changes(c.Version)
	if e := c.Events[0]; e.Product != "Desk Lamp" {
		t.Errorf("a later event names %q", e.Product)
	}
	s.ApplyRead(api.Intent{ID: "ci_1", State: api.Completed, Offer: &api.Offer{ProductTitle: "Desk Lamp, Brass"}}, noon.Add(time.Hour), ByRead)
	c = s.Changes(c.Version)
	if len(c.Events) != 3 || len(c.Shipments) != 1 || c.Shipments[0].Product != "Desk Lamp, Brass" {
		t.Fatalf("%d events and %d shipments are named anew, want 3 and 1", len(c.Events), len(c.Shipments))
	}
	for _, e := range c.Events {
		if e.Product != "Desk Lamp, Brass" {
			t.Errorf("event %s names %q", e.ID, e.Product)
		}
	}
}

func TestEventCounters(t *testing.T) {
	s := NewStore(StoreConfig{})
	s.SetFeed(FeedStatus{State: FeedLive, Epoch: "one"})
	completed := intentEvent(1, "ci_1", api.IntentCompleted, noon.Add(time.Minute))
	offered := intentEvent(2, "ci_1", api.OfferRetrieved, noon)
	backfilled := intentEvent(3, "ci_2", api.OfferRetrieved, noon)
	backfilled.Origin = "backfill"
	s.ApplyEvents([]Delivery{completed, offered, backfilled}, time.Now())
	check := func(what string, want EventCounters) {
		t.Helper()
		if got := s.Summary().Events; got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	check("out of order and backfilled", EventCounters{Received: 3, Late: 1, Backfilled: 1})
	if in, _ := s.Intent("ci_1"); in.State != api.Completed || brief(in.Timeline[0]) != "offer retrieved (late true), already completed" {
		t.Errorf("intent %+v", in)
	}
	if e := s.Changes(0).Events[1]; !e.Late {
		t.Error("the late event is not marked")
	}
	s.ApplyEvents([]Delivery{completed}, time.Now())
	check("the same place again", EventCounters{Received: 3, Late: 1, Backfilled: 1})
	completed.Duplicates = 2
	s.ApplyEvents([]Delivery{completed}, time.Now())
	check("the relay got it twice again", EventCounters{Received: 3, Late: 1, Backfilled: 1, Duplicate: 2})
	completed.Seq = 9
	s.ApplyEvents([]Delivery{completed}, time.Now())
	check("another place in the same journal", EventCounters{Received: 3, Late: 1, Backfilled: 1, Duplicate: 3})
	s.SetFeed(FeedStatus{State: FeedLive, Epoch: "two", Reset: true})
	completed.Seq, completed.Duplicates = 1, 0
	s.ApplyEvents([]Delivery{completed}, time.Now())
	check("another journal", EventCounters{Received: 3, Late: 1, Backfilled: 1, Duplicate: 3})
	if in, _ := s.Intent("ci_1"); len(in.Timeline) != 2 {
		t.Errorf("timeline %+v", in.Timeline)
	}
}

func TestProductSnapshotIsTheNewestCreated(t *testing.T) {
	s := NewStore(StoreConfig{})
	product := func(n int, name string, at time.Time, kind api.EventType) {
		e := api.Event{ID: api.ID(fmt.Sprint("evt_", n)), Type: kind, CreatedAt: at, Source: api.EventSource{ID: "shop.example:mug", Type: api.SourceProduct}}
		if name != "" {
			e.Data = []byte(`{"id":"shop.example:mug","name":"` + name + `"}`)
		}
		s.ApplyEvents([]Delivery{{Seq: int64(n), Event: e}}, time.Now())
	}
	product(1, "New Mug", noon.Add(time.Minute), api.ProductUpdated)
	product(2, "Old Mug", noon, api.ProductUpdated)
	product(3, "", noon.Add(time.Hour), api.ProductRemoved)
	for i, e := range s.Changes(0).Events {
		if late := i == 1; e.Product != "New Mug" || e.Late != late {
			t.Errorf("event %d: %+v", i, e)
		}
	}
}

func TestOldestProductsAreDropped(t *testing.T) {
	s := NewStore(StoreConfig{})
	for i := range keepProducts + 10 {
		id := api.ID(fmt.Sprint("shop.example:", i))
		s.ApplyEvents([]Delivery{{Seq: int64(i), Event: api.Event{ID: "evt_" + id, Type: api.ProductUpdated, CreatedAt: noon.Add(time.Duration(i) * time.Second),
			Source: api.EventSource{ID: id, Type: api.SourceProduct}, Data: []byte(`{"name":"Mug"}`)}}}, time.Now())

	}
	if s.products["shop.example:9"] != nil {
		t.Error("an old product is kept")
	}
	if s.products["shop.example:10"] == nil || len(s.products) != keepProducts {
		t.Errorf("%d products are kept, want the newest %d", len(s.products), keepProducts)
	}
}

func TestEventWithoutAReadableMomentIsNotLate(t *testing.T) {
	s := NewStore(StoreConfig{})
	s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.OfferRetrieved, noon), {Seq: 2, Received: noon.Add(time.Minute), Event: api.Event{
		ID: "evt_2", Type: api.IntentCompleted, Source: api.EventSource{ID: "ci_1", Type: api.SourceIntent}}}}, time.Now())

	if got := s.Summary().Events; got.Late != 0 {
		t.Errorf("counters %+v", got)
	}
	if in, _ := s.Intent("ci_1"); in.State != api.Completed || !in.Since.Equal(noon.Add(time.Minute)) {
		t.Errorf("intent %+v", in)
	}
}

func TestWaitReturnsOnChangeAndOnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		woken := make(chan error)
		for range 3 {
			go func() { woken <- s.Wait(t.Context(), 0) }()
		}
		synctest.Wait()
		s.RecordExchange(api.Exchange{Status: 200})
		for range 3 {
			if err := <-woken; err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { woken <- s.Wait(ctx, s.Changes(0).Version) }()
		synctest.Wait()
		cancel()
		if err := <-woken; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestUntilAsksAtOnceAndAfterEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		asked, woken := 0, make(chan error)
		go func() {
			woken <- s.Until(t.Context(), func() bool {
				asked++
				return s.Summary().Feed.State == FeedLive
			})
		}()
		for _, state := range []FeedState{FeedConnecting, FeedReplaying, FeedLive} {
			synctest.Wait()
			s.SetFeed(FeedStatus{State: state})
		}
		if err := <-woken; err != nil || asked != 4 {
			t.Errorf("asked %d times, %v", asked, err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Until(over, func() bool { return false }); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestShipmentsAreKnownOnceSomethingWouldTellOfThem(t *testing.T) {
	unlisted := ListStatus{State: ListNotServed}
	for _, c := range []struct {
		name string
		of   Summary
		want bool
	}{
		{"before anything is read", Summary{}, false},
		{"by their list", Summary{ShipmentList: ListStatus{State: ListWhole}}, true},
		{"by a feed", Summary{List: unlisted, Feed: FeedStatus{State: FeedLive}}, true},
		{"by a feed, before the service is reached", Summary{Feed: FeedStatus{State: FeedLive}}, false},
		{"by a feed, while the key is refused", Summary{Feed: FeedStatus{State: FeedLive}, API: APIStatus{State: APIUnauthorized}}, false},
		{"by a feed, where the service answers", Summary{Feed: FeedStatus{State: FeedLive}, API: APIStatus{State: APIHealthy}}, true},
		{"by a feed, beside reads of before", Summary{Feed: FeedStatus{State: FeedLive}, LastRead: time.Now()}, true},
		{"by the intents on their list", Summary{ShipmentList: unlisted, List: ListStatus{State: ListWhole}}, true},
		{"by the intents that somebody named", Summary{ShipmentList: unlisted, List: unlisted, Named: true, LastRead: time.Now()}, true},
		{"where no list is served", Summary{ShipmentList: unlisted, List: unlisted}, false},
		{"where the key may not read them", Summary{ShipmentList: ListStatus{State: ListForbidden}, Feed: FeedStatus{State: FeedLive}}, false},
		{"where no intent can be read", Summary{ShipmentList: unlisted, List: unlisted, Named: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.of.ShipmentsKnown(); got != c.want {
				t.Errorf("known: %v, want %v", got, c.want)
			}
		})
	}
}

func TestRequestsAreARing(t *testing.T) {
	s := NewStore(StoreConfig{KeepRequests: 3})
	for i := range 5 {
		s.RecordExchange(api.Exchange{Path: fmt.Sprint(i), Status: 200})
	}
	c := s.Changes(0)
	if len(c.Requests) != 3 || c.Requests[0].Path != "2" || c.Requests[2].Path != "4" {
		t.Fatalf("requests %+v", c.Requests)
	}
	s.RecordExchange(api.Exchange{Path: "5", Status: 200})
	if c = s.Changes(c.Version); len(c.Requests) != 1 || c.Requests[0].Path != "5" {
		t.Fatalf("requests %+v", c.Requests)
	}
}
