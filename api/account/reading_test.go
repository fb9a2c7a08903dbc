package account

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

func TestShipmentHintsAreReadByOneList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Second, time.Second)
		svc, feed := newService(l), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Minute)
			feed.deliver(l.events()...)
			var events []api.Event
			for i := range 20 {
				id := api.ID(fmt.Sprint("shp_", i))
				svc.ship(api.Shipment{ID: id, IntentID: "ci_1", Status: api.Shipped, UpdatedAt: time.Now()})
				events = append(events, api.Event{ID: "evt_" + id, Type: api.ShipmentCreated, CreatedAt: time.Now(),
					Source: api.EventSource{ID: id, Type: api.SourceShipment}})
			}
			for _, e := range events {
				feed.deliver(e)
			}
			pass(time.Minute)
			if lists, gets := len(svc.callsTo("shipments ")), len(svc.callsTo("shipment ")); lists != 1 || gets != 0 {
				t.Errorf("%d lists and %d gets for 20 shipments, want one list", lists, gets)
			}
			c := s.Changes(0)
			for _, sh := range c.Shipments {
				if sh.Status() != api.Shipped || sh.Product == "" || sh.IntentID != "ci_1" {
					t.Errorf("shipment %+v", sh)
				}
			}
			for _, e := range c.Events {
				if e.Product == "" {
					t.Errorf("event %s does not name its product", e.ID)
				}
			}
			if in, _ := s.Intent("ci_1"); len(in.Shipments) != 20 {
				t.Errorf("the intent knows %d of its 20 shipments", len(in.Shipments))
			}
		})
	})
}

func TestUnknownIDIsKeptAsMissingAndGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService()
		watched(t, svc, nil, WatcherConfig{WatchIDs: []api.ID{"ci_gone"}}, func(t *testing.T, s *Store, w *Watcher) {
			pass(24 * time.Hour)
			in := mustBe(t, s, "ci_gone", "", Hinted)
			if !in.Missing || len(in.Timeline) != 1 {
				t.Errorf("intent %+v", in)
			}
			if n := len(svc.callsTo("intent ")); n != 4 {
				t.Errorf("%d reads of an id that is not found, want 4", n)
			}
			w.Refresh("ci_gone")
			pass(time.Second)
			if n := len(svc.callsTo("intent ")); n != 5 {
				t.Errorf("a person's refresh was not read")
			}
		})
	})
}

func TestFailedReadsBackOffAndRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService(sold("ci_1", time.Now(), time.Second, 3*time.Hour, time.Second))
		start := time.Now()
		svc.fail = func(string, int) error {
			if time.Since(start) < time.Hour {
				return errBroken
			}
			return nil
		}
		watched(t, svc, nil, WatcherConfig{WatchIDs: []api.ID{"ci_1"}}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Hour)
			if n := len(svc.callsTo("intent ")); n < 60 || n > 135 {
				t.Errorf("%d reads in an hour of failures, want one or two a minute", n)
			}
			pass(2 * time.Minute)
			mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
			if failed := s.Summary().Reads.Failed; failed < 60 {
				t.Errorf("%d failed reads counted", failed)
			}
		})
	})
}

func TestReaderThatPanicsCostsOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService(sold("ci_1", time.Now(), time.Second, time.Hour, time.Second))
		svc.fail = func(_ string, n int) error {
			if n == 1 {
				panic("broken reader")
			}
			return nil
		}
		watched(t, svc, nil, WatcherConfig{WatchIDs: []api.ID{"ci_1"}}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Minute)
			mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
		})
	})
}

func TestListOfIntentsIsTakenWhereTheServiceHasOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lives []*life
		for i := range 30 {
			lives = append(lives, expired(api.ID(fmt.Sprint("ci_", i)), time.Now().Add(-2*time.Hour), time.Second))
		}
		svc := newService(lives...)
		svc.lists = true
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Hour)
			if got := s.Summary().Intents[api.Failed]; got != 30 {
				t.Errorf("%d intents from the list", got)
			}
			lists, sweeps, all := len(svc.callsTo("intents")), len(svc.callsTo("shipments 0")), len(svc.callsTo(""))
			if lists < 119 || lists > 121 || sweeps != 7 || lists+sweeps != all {
				t.Errorf("%d lists of intents and %d of shipments of %d calls in an hour, want one every 30 s, one every 9 minutes and nothing else", lists, sweeps, all)
			}
			if got := s.Summary().Day; got.Seen != 30 || got.Limit != 50 {
				t.Errorf("day %+v", got)
			}
			pass(23 * time.Hour)
			if got := s.Summary().Day; got.Seen != 0 {
				t.Errorf("day %+v a day later", got)
			}
		})
	})
}

func TestShipmentsOfACompletedIntentAreListedOnceIfNoEventNamesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Second, time.Second)
		svc := newService(l)
		svc.ship(api.Shipment{ID: "shp_1", Status: api.Ordered, UpdatedAt: time.Now()})
		svc.ship(api.Shipment{ID: "shp_2", IntentID: "ci_1", Status: api.Ordered, UpdatedAt: time.Now()})
		watched(t, svc, newFeed(), WatcherConfig{WatchIDs: []api.ID{"ci_1"}}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Minute)
			pass(20 * time.Minute)
			if n := len(svc.callsTo("shipments of ")); n != 1 {
				t.Errorf("%d lists, want 1", n)
			}
			if in, _ := s.Intent("ci_1"); len(in.Shipments) != 1 {
				t.Errorf("shipments %v", in.Shipments)
			}
			svc.ship(api.Shipment{ID: "shp_3", IntentID: "ci_1", Status: api.Shipped, UpdatedAt: time.Now()})
			refreshShipments(w, "ci_1")
			pass(time.Second)
			if in, _ := s.Intent("ci_1"); len(in.Shipments) != 2 {
				t.Errorf("shipments %v after a person asked", in.Shipments)
			}
		})
	})
}

func TestReadsToBeSureLeaveWorkersForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lives []*life
		var ids []api.ID
		for i := range 20 {
			l := sold(api.ID(fmt.Sprint("ci_", i)), time.Now(), time.Second, time.Hour, time.Second)
			lives, ids = append(lives, l), append(ids, l.id)
		}
		svc, feed := newService(lives...), newFeed()
		svc.latency = time.Minute
		watched(t, svc, feed, WatcherConfig{Workers: 4}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedReplaying)
			for _, l := range lives {
				feed.deliver(l.events()[0])
			}
			feed.state(FeedLive)
			pass(time.Second)
			if n := len(svc.callsTo("intent ")); n != 2 {
				t.Errorf("%d reads to be sure are under way, want half of the workers", n)
			}
			feed.deliver(lives[3].events()[1], lives[4].events()[1], lives[5].events()[1])
			for _, id := range ids[10:16] {
				w.Refresh(id)
			}
			pass(time.Second)
			byPriority := map[quota.Priority]int{}
			for _, c := range svc.callsTo("intent ") {
				byPriority[c.priority]++
			}
			if byPriority[quota.Hint]+byPriority[quota.Person] < 6 || byPriority[quota.Person] < 4 {
				t.Errorf("under way %v: hints and persons wait for reads to be sure", byPriority)
			}
		})
	})
}

func TestItemThatCannotBeReadDoesNotEndItsList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		l := sold("ci_1", now.Add(-time.Minute), time.Second, time.Second, time.Second)
		svc := newService(l, sold("ci_2", now.Add(-time.Minute), time.Second, time.Second, time.Second))
		svc.lists, svc.garbled = true, true
		svc.ship(api.Shipment{ID: "shp_1", IntentID: "ci_1", Status: api.Shipped, UpdatedAt: now})
		svc.ship(api.Shipment{ID: "shp_2", IntentID: "ci_1", Status: api.Delivered, UpdatedAt: now})
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Second)
			mustBe(t, s, "ci_1", api.Completed, Verified)
			mustBe(t, s, "ci_2", api.Completed, Verified)
			refreshShipments(w, "ci_1")
			pass(time.Second)
			if in, _ := s.Intent("ci_1"); len(in.Shipments) != 2 {
				t.Errorf("shipments %v, want both that can be read", in.Shipments)
			}
			if failed := s.Summary().Reads.Failed; failed != 0 {
				t.Errorf("%d reads count as failed", failed)
			}
		})
	})
}

func TestShipmentsOfAnIncompleteListCountAsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Second, time.Second)
		svc, feed := newService(l), newFeed()
		svc.cut.Store(true)
		svc.ship(api.Shipment{ID: "shp_1", IntentID: "ci_1", Status: api.Shipped, UpdatedAt: time.Now()})
		for _, id := range []api.ID{"shp_2", "shp_3"} {
			svc.ship(api.Shipment{ID: id, Status: api.Shipped, UpdatedAt: time.Now()})
		}
		watched(t, svc, feed, WatcherConfig{WatchIDs: []api.ID{"ci_1"}}, func(t *testing.T, s *Store, w *Watcher) {
			for _, id := range []api.ID{"shp_2", "shp_3"} {
				feed.deliver(api.Event{ID: "evt_" + id, Type: api.ShipmentUpdated, CreatedAt: time.Now(), Source: api.EventSource{ID: id, Type: api.SourceShipment}})
			}
			feed.state(FeedLive)
			pass(time.Minute)
			refreshShipments(w, "ci_1")
			pass(time.Minute)
			for _, id := range []api.ID{"shp_1", "shp_2", "shp_3"} {
				if sh, known := s.Shipment(id); !known || sh.Status() != api.Shipped {
					t.Errorf("%s is %v", id, sh)
				}
			}
			if n := len(svc.callsTo("shipments of ")); n < 2 || w.Settling().Unreadable+len(w.Settling().Missing) == 0 {
				t.Errorf("%d lists of the intent's shipments, settling is %+v: nothing says that the list is incomplete", n, w.Settling())
			}
		})
	})
}

func TestShipmentThatCannotBeReadDoesNotHoldUpTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, feed := newService(), newFeed()
		hint := func(id api.ID) api.Event {
			return api.Event{ID: "evt_" + id, Type: api.ShipmentUpdated, CreatedAt: time.Now(), Source: api.EventSource{ID: id, Type: api.SourceShipment}}
		}
		svc.ship(api.Shipment{ID: "shp_1", Status: api.Shipped})
		svc.ship(api.Shipment{ID: "shp_3", Status: api.Shipped})
		svc.fail = func(path string, _ int) error {
			if path == "shipment shp_2" {
				return &api.UnreadableError{Path: path, Status: 200, Err: errBroken}
			}
			return nil
		}
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			feed.deliver(hint("shp_1"), hint("shp_2"), hint("shp_3"))
			pass(10 * time.Minute)
			for _, id := range []api.ID{"shp_1", "shp_3"} {
				if sh, _ := s.Shipment(id); sh.Certainty != Verified {
					t.Errorf("%s was not read", id)
				}
			}
			if n := len(svc.callsTo("shipments 3")); n != 1 {
				t.Errorf("listed %d times for the sake of one", n)
			}
			if n := len(svc.callsTo("shipment shp_2")); n < 5 || n > 30 {
				t.Errorf("the one that cannot be read was tried %d times in ten minutes", n)
			}
		})
	})
}

func TestOfALongHistoryOnlyWhatIsKeptIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const kept = 40
		var lives []*life
		var events []api.Event
		for i := range 2 * kept {
			l := sold(api.ID(fmt.Sprint("ci_", i)), time.Now().Add(time.Duration(i-1000)*time.Second), time.Second, time.Second, time.Second)
			lives, events = append(lives, l), append(events, l.events()...)
		}
		svc, feed := newService(lives...), newFeed()
		watchedStore(t, NewStore(StoreConfig{KeepIntents: kept}), svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedReplaying)
			feed.deliver(events...)
			synctest.Wait()
			w.mu.Lock()
			if n := len(w.queue.jobs); n != kept {
				t.Errorf("%d reads are wanted, %d intents are kept", n, kept)
			}
			w.mu.Unlock()
			feed.state(FeedLive)
			pass(5 * time.Minute)
			for i, l := range lives {
				in, known := s.Intent(l.id)
				if known != (i >= kept) || known && in.Certainty != Verified {
					t.Errorf("%s is kept: %t as %+v", l.id, known, in)
				}
			}
			if n := len(svc.callsTo("intent ")); n != kept {
				t.Errorf("%d reads of %d intents that are kept", n, kept)
			}
		})
	})
}

// refreshShipments asks for the list of an intent's shipments.
func refreshShipments(w *Watcher, id api.ID) {
	w.store.know(id, false)
	w.change(func(now time.Time) { w.queue.ask(task{listOfIntent, id}, rank{}, now, quota.Person) })
}

func TestListThatIsNotServedIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService()
		watched(t, svc, nil, WatcherConfig{ListEvery: time.Second}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Minute)
			if svc.refused != 1 {
				t.Errorf("asked %d times", svc.refused)
			}
			if failed := s.Summary().Reads.Failed; failed != 0 {
				t.Errorf("%d failed reads counted", failed)
			}
		})
	})
}
