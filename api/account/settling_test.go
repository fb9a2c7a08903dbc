package account

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// missingParts is what a watcher says is missing, in words.
func missingParts(w *Watcher) string {
	var parts []string
	for _, m := range w.Settling().Missing {
		words := string(m.Part)
		if m.Count > 0 {
			words += fmt.Sprint(" ", m.Count)
		}
		if m.Err != nil {
			words += ": " + m.Err.Error()
		}
		if m.Final {
			words += " for good"
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, ", ")
}

func TestAPictureIsSettledOnceTheListTheFeedAndAllThatIsNamedWereRead(t *testing.T) {
	tooMany := &api.Error{Method: "GET", Path: "/x", Status: http.StatusTooManyRequests}
	page := &api.UnreadableError{Method: "GET", Path: "/x", Status: 200, Err: errBroken}
	cases := []struct {
		name    string
		lists   bool
		fed     bool
		bare    bool // there are no shipments
		ids     []api.ID
		fail    func(path string, n int) error
		feed    func(*fakeFeed)
		after   time.Duration
		missing string
		counted int  // reads that failed
		done    bool // the events tell that ci_done has completed, and nothing of its parcel
	}{
		{name: "a list whose second page is under way", lists: true, after: 30 * time.Millisecond, missing: "list, shipment_list"},
		{name: "a list that was read to its end", lists: true, after: time.Second},
		{name: "a list that is refused for quota", lists: true, after: 10 * time.Second, missing: "list: " + tooMany.Error() + ", shipment_list: " + tooMany.Error(),
			fail: func(string, int) error { return tooMany }},
		{name: "a sign-in page instead of a list", lists: true, after: 10 * time.Second, missing: "list: " + page.Error() + ", shipment_list: " + page.Error(),
			fail: func(string, int) error { return page }},
		{name: "no list, no feed and no shipments", bare: true, after: time.Second, missing: "source for good"},
		{name: "no list and no feed, but a shipment that names its intent", after: time.Second, missing: "source for good"},
		{name: "no list and a list of shipments that is refused for quota", after: 10 * time.Second, missing: "shipment_list: " + tooMany.Error(),
			fail: func(string, int) error { return tooMany }},
		{name: "no list and a list of shipments that does not go without ids", after: time.Second, missing: "source for good",
			fail: func(string, int) error { return &api.Error{Status: http.StatusUnprocessableEntity} }},
		{name: "no list and no feed, but an id", ids: []api.ID{"ci_0001"}, after: time.Second},
		{name: "an id that is not found", ids: []api.ID{"ci_9999"}, after: time.Second},
		{name: "an id that cannot be read at all", ids: []api.ID{"ci_0001"}, bare: true, after: 10 * time.Second, missing: "intents 1: " + errBroken.Error(),
			fail: func(path string, _ int) error {
				if path == "shipments 0" {
					return nil
				}
				return errBroken
			}},
		{name: "an id that is refused for quota, beside one that is read", ids: []api.ID{"ci_0001", "ci_0002"}, after: 10 * time.Second, missing: "intents 1: " + tooMany.Error(),
			fail: func(path string, _ int) error {
				if path == "intent ci_0001" {
					return tooMany
				}
				return nil
			}},
		{name: "an id whose answer is unreadable, beside one that is read", ids: []api.ID{"ci_0001", "ci_0002"}, after: time.Second, counted: 1,
			fail: func(path string, _ int) error {
				if path == "intent ci_0001" {
					return page
				}
				return nil
			}},
		{name: "a feed that is not there yet", fed: true, after: time.Second, missing: "feed"},
		{name: "a feed that replays", fed: true, after: time.Second, missing: "feed",
			feed: func(f *fakeFeed) { f.state(FeedReplaying) }},
		{name: "a feed that is lost", fed: true, after: time.Second, missing: "feed: " + errBroken.Error(),
			feed: func(f *fakeFeed) { f.status(FeedStatus{State: FeedLost, Err: errBroken}) }},
		{name: "a feed that refuses this client", fed: true, after: time.Second, missing: "feed: " + errBroken.Error() + " for good",
			feed: func(f *fakeFeed) { f.status(FeedStatus{State: FeedRefused, Err: errBroken}) }},
		{name: "a feed at its head that has told of nothing", fed: true, after: time.Second,
			feed: func(f *fakeFeed) { f.state(FeedLive) }},
		{name: "an intent of which an event has just told", fed: true, after: 30 * time.Millisecond, missing: "intents 1",
			feed: func(f *fakeFeed) { f.state(FeedLive); f.deliver(offered("ci_0001")) }},
		{name: "an intent of which an event told and that was read", fed: true, after: time.Second,
			feed: func(f *fakeFeed) { f.state(FeedLive); f.deliver(offered("ci_0001")) }},
		{name: "an event of an intent that was read before it", fed: true, after: 30 * time.Millisecond, missing: "intents 1", ids: []api.ID{"ci_new"},
			feed: func(f *fakeFeed) {
				f.state(FeedLive)
				pass(time.Second)
				e := offered("ci_new")
				e.Type = api.OfferFailed
				f.deliver(e)
			}},
		{name: "a shipment of which an event has just told", fed: true, after: 30 * time.Millisecond, missing: "shipments 1",
			feed: func(f *fakeFeed) { f.state(FeedLive); f.deliver(shipmentMoved("shp_1")) }},
		{name: "a shipment of which an event told and that was read", fed: true, after: time.Second,
			feed: func(f *fakeFeed) { f.state(FeedLive); f.deliver(shipmentMoved("shp_1")) }},
		{name: "a completed intent whose parcel no event named, while its parcels cannot be listed", fed: true, after: 10 * time.Second, done: true, missing: "intent_shipments 1: " + tooMany.Error(),
			fail: func(path string, _ int) error {
				if path == "intent ci_done" {
					return nil
				}
				return tooMany
			}},
		{name: "a completed intent whose parcel no event named, while its parcels are being listed", fed: true, after: 30 * time.Millisecond, done: true, missing: "intent_shipments 1"},
		{name: "a completed intent whose parcel no event named, once its parcels were listed", fed: true, after: 10 * time.Second, done: true},
		{name: "events that the relay no longer has, without a list of intents", fed: true, after: time.Second, missing: "events 12 for good",
			feed: func(f *fakeFeed) { f.status(FeedStatus{State: FeedLive, LostFrom: 5, LostTo: 16}) }},
		{name: "another journal than before, without a list of intents", fed: true, after: time.Second, missing: "events for good",
			feed: func(f *fakeFeed) { f.status(FeedStatus{State: FeedLive, Reset: true}) }},
		{name: "events that the relay no longer has, with a list of intents", fed: true, lists: true, after: 10 * time.Second,
			feed: func(f *fakeFeed) { f.status(FeedStatus{State: FeedLive, LostFrom: 5, LostTo: 16}) }},
		{name: "a refused key", lists: true, after: time.Second, missing: "list: " + refused.Error() + " for good, shipment_list: " + refused.Error() + " for good",
			fail: func(string, int) error { return refused }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := newService(append(history(150), expired("ci_new", time.Now(), time.Minute))...)
				if !c.bare {
					svc.ship(api.Shipment{ID: "shp_1", IntentID: "ci_0001", Status: api.Shipped, UpdatedAt: time.Now()})
				}
				if c.done {
					done := sold("ci_done", time.Now().Add(-2*time.Minute), time.Second, time.Second, time.Second)
					svc.lives[done.id] = done
					svc.ship(api.Shipment{ID: "shp_done", IntentID: done.id, Status: api.Ordered, UpdatedAt: time.Now()})
					c.feed = func(f *fakeFeed) {
						f.deliver(done.events()...)
						f.state(FeedLive)
					}
				}
				svc.lists, svc.page, svc.fail = c.lists, 100, c.fail
				var feed *fakeFeed
				if c.fed {
					feed = newFeed()
				}
				watched(t, svc, feed, WatcherConfig{WatchIDs: c.ids}, func(t *testing.T, s *Store, w *Watcher) {
					if c.feed != nil {
						c.feed(feed)
					}
					pass(c.after)
					if got := missingParts(w); got != c.missing {
						t.Errorf("missing is %q, want %q", got, c.missing)
					}
					if sh, known := s.Shipment("shp_done"); c.done && c.missing == "" && (!known || sh.Status() != api.Ordered) {
						t.Error("its parcel is not known")
					}
					if got := w.Settling().Unreadable; got != c.counted {
						t.Errorf("%d reads that failed are counted, want %d", got, c.counted)
					}
				})
			})
		})
	}
}

var refused = &api.Error{Method: "GET", Path: "/x", Status: http.StatusUnauthorized}

func offered(id api.ID) api.Event {
	return api.Event{ID: "evt_" + id, Type: api.OfferRetrieved, CreatedAt: time.Now(), Source: api.EventSource{ID: id, Type: api.SourceIntent}}
}

func shipmentMoved(id api.ID) api.Event {
	return api.Event{ID: "evt_" + id, Type: api.ShipmentUpdated, CreatedAt: time.Now(), Source: api.EventSource{ID: id, Type: api.SourceShipment}}
}

func TestAReadThatKeepsFailingIsCountedOnceTheServiceAnswersOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, feed := newService(history(3)...), newFeed()
		svc.fail = func(path string, _ int) error {
			if path == "intent ci_0001" {
				return errBroken
			}
			return nil
		}
		watched(t, svc, feed, WatcherConfig{WatchIDs: []api.ID{"ci_0001"}}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(10 * time.Second)
			if got := missingParts(w); got != "intents 1: "+errBroken.Error() {
				t.Errorf("missing is %q while nothing else was answered", got)
			}
			feed.deliver(offered("ci_0002"))
			pass(time.Second)
			if got := w.Settling(); len(got.Missing) > 0 || got.Unreadable != 1 {
				t.Errorf("%+v once another was answered, want the failure counted", got)
			}
		})
	})
}

func TestWhatIsKnownFromAnEarlierRunIsReadBeforeThePictureIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := sold("ci_1", time.Now(), time.Second, time.Hour, time.Second)
		svc := newService(open)
		store := NewStore(StoreConfig{})
		pass(time.Minute)
		store.ApplyRead(open.read(time.Now()), time.Now(), ByRead)
		pass(time.Second)
		svc.latency = time.Second
		watchedStore(t, store, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(500 * time.Millisecond)
			if got := missingParts(w); got != "shipment_list, intents 1" {
				t.Errorf("missing is %q before it is read again", got)
			}
			pass(time.Second)
			if got := missingParts(w); got != "source for good" {
				t.Errorf("missing is %q after it was read again, want what nothing mentions: new ones", got)
			}
		})
	})
}

func TestAnEndThatWasReportedLongAgoIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, store := newService(), NewStore(StoreConfig{})
		e := api.Event{ID: "evt_1", Type: api.IntentCompleted, CreatedAt: time.Now(), Source: api.EventSource{ID: "ci_1", Type: api.SourceIntent}}
		store.ApplyEvents([]Delivery{{Seq: 1, Event: e, Received: time.Now()}}, time.Now())
		pass(48 * time.Hour)
		feed := newFeed()
		watchedStore(t, store, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Second)
			if got := w.Settling(); len(got.Missing) > 0 || got.Reported != 1 {
				t.Errorf("%+v, want one that was only reported", got)
			}
			if reads := svc.callsTo("intent "); len(reads) > 0 {
				t.Errorf("read %v", reads)
			}
		})
	})
}

func TestAnIntentThatWasNotReadIsInNoState(t *testing.T) {
	s := NewStore(StoreConfig{})
	s.know("ci_1", false)
	s.ApplyRead(api.Intent{ID: "ci_2", State: "requires_action"}, time.Now(), ByRead)
	s.ApplyRead(api.Intent{ID: "ci_3", State: api.Failed}, time.Now(), ByRead)
	sum := s.Summary()
	if sum.NotRead != 1 || sum.Intents[""] != 1 || sum.Intents[api.Failed] != 1 {
		t.Errorf("%d not read, %v", sum.NotRead, sum.Intents)
	}
}
