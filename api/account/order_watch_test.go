package account

import (
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// An order needs a read of each intent that may belong to it, and of no other: what an earlier run read of another
// order stays in that order, and what was never read may be an item however long ago it ended.
func TestForAnOrderOnlyWhatMayBelongToItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := NewStore(StoreConfig{})
		var lives []*life
		for id, reference := range map[api.ID]api.Text{"ci_item": "order-7", "ci_other": "order-8", "ci_none": "", "ci_new": "order-7"} {
			l := sold(id, now.Add(-time.Minute), time.Second, time.Hour, time.Hour)
			l.reference = reference
			lives = append(lives, l)
			if id != "ci_new" {
				s.ApplyRead(l.read(now), now, ByRead)
			}
		}
		old := sold("ci_old", now.Add(-72*time.Hour), time.Second, time.Second, time.Second)
		old.reference = "order-7"
		svc, feed := newService(append(lives, old)...), newFeed()
		svc.ship(api.Shipment{ID: "shp_other", IntentID: "ci_other", Status: api.Shipped, UpdatedAt: now})
		s.ApplyShipments([]api.Shipment{{ID: "shp_other", IntentID: "ci_other", Status: api.Shipped, UpdatedAt: now}}, now)
		pass(time.Second)
		watchedStore(t, s, svc, feed, WatcherConfig{Order: "order-7"}, func(t *testing.T, s *Store, w *Watcher) {
			for _, l := range append(lives, old) {
				feed.deliver(l.events()[:1]...)
			}
			feed.deliver(old.events()...)
			feed.state(FeedLive)
			synctest.Wait()
			if missing := missingParts(w); missing != "intents 3" {
				t.Errorf("missing: %q, want the item and the two that were never read", missing)
			}
			pass(5 * time.Second)
			if missing := missingParts(w); missing != "" {
				t.Errorf("after the reads, missing: %q", missing)
			}
			if o := s.Order("order-7"); o == nil || len(o.Intents) != 3 {
				t.Errorf("the order is %v, want three items", o)
			}
			for _, id := range []string{"intent ci_other", "intent ci_none", "shipment shp_other"} {
				if n := len(svc.callsTo(id)); n > 0 {
					t.Errorf("%s was read %d times", id, n)
				}
			}
		})
	})
}
