package account

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

var errForbidden = &api.Error{Method: "GET", Path: "/api/v1/shipments", Status: http.StatusForbidden, Name: "ForbiddenError", Message: "API key lacks the scope"}

// scoped is a service that answers reads of shipments 403 while forbids is set.
func scoped(lives ...*life) (svc *fakeService, forbids *atomic.Bool) {
	svc, forbids = newService(lives...), new(atomic.Bool)
	forbids.Store(true)
	svc.fail = func(path string, _ int) error {
		if forbids.Load() && strings.HasPrefix(path, "shipment") {
			return errForbidden
		}
		return nil
	}
	return svc, forbids
}

func TestShipmentsThatTheKeyMayNotReadAreAskedForOnceAnHour(t *testing.T) {
	for _, c := range []struct {
		name string
		fed  bool
	}{{"without a feed", false}, {"with a feed that names shipments", true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := sold("ci_done", time.Now().Add(-2*time.Minute), time.Second, time.Second, time.Second)
				svc, _ := scoped(done)
				svc.lists = true
				var feed *fakeFeed
				if c.fed {
					feed = newFeed()
				}
				watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
					if c.fed {
						feed.state(FeedLive)
						feed.deliver(shipmentMoved("shp_1"))
						pass(time.Second)
						feed.deliver(shipmentMoved("shp_2"))
					}
					pass(3*time.Hour - time.Minute)
					if n := len(svc.callsTo("shipment")); n < 3 || n > 4 {
						t.Errorf("%d reads of shipments in three hours, want one an hour, and one for the events", n)
					}
					sum := s.Summary()
					if list := sum.ShipmentList; list.State != ListForbidden || !errors.Is(list.Err, api.ErrForbidden) || sum.ShipmentsKnown() {
						t.Errorf("the list of shipments is %+v, known: %v", list, sum.ShipmentsKnown())
					}
					if got := missingParts(w); got != "shipment_list: the API key may not read shipments: "+errForbidden.Error()+" for good" {
						t.Errorf("missing is %q", got)
					}
				})
			})
		})
	}
}

func TestShipmentsAreReadWithinAnHourOfTheirScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := sold("ci_done", time.Now().Add(-2*time.Minute), time.Second, time.Second, time.Second)
		svc, forbids := scoped(done)
		svc.lists = true
		svc.ship(api.Shipment{ID: "shp_1", IntentID: done.id, Status: api.Shipped, UpdatedAt: time.Now()})
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Minute)
			forbids.Store(false)
			pass(time.Hour)
			sum := s.Summary()
			if sh, ok := s.Shipment("shp_1"); !ok || sh.Status() != api.Shipped || !sum.ShipmentsKnown() {
				t.Errorf("the shipment is %+v, the list %+v", sh, sum.ShipmentList)
			}
		})
	})
}

func TestAListThatAloneIsForbiddenIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService()
		svc.lists = true
		svc.ship(api.Shipment{ID: "shp_1", Status: api.Shipped, UpdatedAt: time.Now()})
		s := NewStore(StoreConfig{})
		s.ApplyShipments([]api.Shipment{{ID: "shp_1", Status: api.Shipped}}, time.Now())
		svc.fail = func(path string, _ int) error {
			if path == "shipments 0" {
				return errForbidden
			}
			return nil
		}
		watchedStore(t, s, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(3 * time.Hour)
			if n := len(svc.callsTo("shipments 0")); n != 1 || s.Summary().ShipmentList.State != ListNotServed {
				t.Errorf("%d reads of the list, %+v: want one", n, s.Summary().ShipmentList)
			}
		})
	})
}

func TestWhatIsBeforeTheServiceForbidsNoShipments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, forbids := scoped()
		svc.lists = true
		refuse := svc.fail
		svc.fail = func(path string, n int) error {
			if refuse(path, n) == nil {
				return nil
			}
			return &api.Error{Method: "GET", Path: path, Status: http.StatusForbidden} // a page of a firewall
		}
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Minute)
			if list := s.Summary().ShipmentList; list.State == ListForbidden || list.Err == nil {
				t.Errorf("the list is %+v, want one that failed", list)
			}
			forbids.Store(false)
			pass(10 * time.Minute)
			if list := s.Summary().ShipmentList; list.State != ListWhole {
				t.Errorf("the list is %+v once it is served", list)
			}
		})
	})
}

func TestShipmentsAreReadOnceAnotherKeyOrAPersonAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := sold("ci_done", time.Now().Add(-2*time.Minute), time.Second, time.Second, time.Second)
		svc, forbids := scoped(done)
		svc.lists = true
		svc.ship(api.Shipment{ID: "shp_1", IntentID: done.id, Status: api.Shipped, UpdatedAt: time.Now()})
		feed := newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			feed.deliver(shipmentMoved("shp_1"))
			pass(time.Hour)
			w.TryKey()
			pass(time.Hour)
			if n := len(svc.callsTo("shipment")); n < 3 || n > 6 || s.Summary().ShipmentList.State != ListForbidden {
				t.Fatalf("%d reads of shipments, %+v: want a few more, refused alike", n, s.Summary().ShipmentList)
			}
			forbids.Store(false)
			w.TryKey()
			pass(time.Minute)
			sum := s.Summary()
			if sh, _ := s.Shipment("shp_1"); sh.Status() != api.Shipped || !sum.ShipmentsKnown() {
				t.Errorf("the shipment is %q, all are known: %v", sh.Status(), sum.ShipmentsKnown())
			}
		})
	})
}

func TestAKeyThatHasReadShipmentsIsNotForbiddenThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, forbids := scoped()
		svc.lists = true
		forbids.Store(false)
		svc.ship(api.Shipment{ID: "shp_1", Status: api.Shipped, UpdatedAt: time.Now()})
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Minute)
			forbids.Store(true)
			s.RecordExchange(api.Exchange{Method: "GET", Path: "/api/v1/shipments", Status: 403, Err: errForbidden})
			s.RecordExchange(api.Exchange{Method: "GET", Path: "/api/v1/shipments", Status: 403, Err: errForbidden})
			if state := s.Summary().API.State; state != APIFailing {
				t.Errorf("the API is %v", state)
			}
			pass(time.Hour)
			if list := s.Summary().ShipmentList; list.State != ListWhole || list.Err == nil {
				t.Errorf("the list is %+v", list)
			}
			forbids.Store(false)
			pass(11 * time.Minute)
			if list := s.Summary().ShipmentList; list.Err != nil {
				t.Errorf("the list is %+v once it is served again", list)
			}
		})
	})
}
