package account

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// keyed is a service that refuses the key while refuses is set.
func keyed(lives ...*life) (svc *fakeService, refuses *atomic.Bool) {
	svc, refuses = newService(lives...), new(atomic.Bool)
	refuses.Store(true)
	svc.fail = func(string, int) error {
		if refuses.Load() {
			return fmt.Errorf("read: %w", api.ErrUnauthorized)
		}
		return nil
	}
	return svc, refuses
}

func awaitingMany(n int) (lives []*life, ids []api.ID) {
	for i := range n {
		l := sold(api.ID(fmt.Sprint("ci_", i)), time.Now().Add(-time.Minute), time.Second, 3*time.Hour, time.Second)
		lives, ids = append(lives, l), append(ids, l.id)
	}
	return lives, ids
}

func TestARefusedKeyIsTriedAgainAtAWideningPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lives, ids := awaitingMany(20)
		svc, _ := keyed(lives...)
		watched(t, svc, nil, WatcherConfig{WatchIDs: ids}, func(t *testing.T, s *Store, w *Watcher) {
			pass(5 * time.Second)
			if n := len(svc.callsTo("intent ")); n > 4 {
				t.Errorf("%d reads before the refusal was known, want no more than at once", n)
			}
			before := len(svc.callsTo(""))
			pass(15 * time.Second)
			if n := len(svc.callsTo("intent ")) + len(svc.callsTo("shipments ")); n-before > 2 || n == before {
				t.Errorf("%d requests at the first trial, want an intent and a list", n-before)
			}
			if at := s.Summary().API.TryAt; at.Before(time.Now()) || at.After(time.Now().Add(30*time.Second)) {
				t.Errorf("the next trial is announced for %v", time.Until(at))
			}
			pass(time.Hour)
			if n := len(svc.callsTo("intent ")); n < 12 || n > 24 {
				t.Errorf("%d reads in an hour with a refused key, want one every five minutes or so", n)
			}
			if s.Summary().API.State != APIUnauthorized || !hasAlert(s, AlertAPI) {
				t.Error("the picture does not say that the key is refused")
			}
		})
	})
}

func TestASingleRefusalIsOverSoon(t *testing.T) {
	for _, c := range []struct {
		name  string
		ids   int
		lists bool
		fed   bool
	}{
		{"with intents to read", 3, false, false},
		{"with a list", 0, true, false},
		{"with nothing to read but the list of shipments", 0, false, false},
		{"with a feed and nothing to read", 0, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lives, ids := awaitingMany(c.ids)
				svc, refuses := keyed(lives...)
				svc.lists = c.lists
				var feed *fakeFeed
				if c.fed {
					feed = newFeed()
				}
				watched(t, svc, feed, WatcherConfig{WatchIDs: ids}, func(t *testing.T, s *Store, w *Watcher) {
					if c.fed {
						feed.state(FeedLive)
						refuseKey(s, api.ErrUnauthorized) // as a confirm was answered
					}
					pass(2 * time.Second)
					if s.Summary().API.State != APIUnauthorized {
						t.Fatal("the key does not count as refused")
					}
					refuses.Store(false)
					pass(20 * time.Second)
					if sum := s.Summary(); sum.API.State == APIUnauthorized || hasAlert(s, AlertAPI) || !sum.API.TryAt.IsZero() {
						t.Errorf("20 s later the API is %+v", sum.API)
					}
					for _, id := range ids {
						mustBe(t, s, id, api.AwaitingConfirmation, Verified)
					}
				})
			})
		})
	}
}

func TestAnotherKeyIsTriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lives, ids := awaitingMany(20)
		svc, refuses := keyed(lives...)
		watched(t, svc, nil, WatcherConfig{WatchIDs: ids}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Hour)
			refuses.Store(false)
			w.TryKey()
			pass(2 * time.Second)
			for _, id := range ids {
				mustBe(t, s, id, api.AwaitingConfirmation, Verified)
			}
			if state := s.Summary().API.State; state != APIHealthy {
				t.Errorf("the API is %v", state)
			}
			before := len(svc.callsTo(""))
			w.TryKey()
			pass(time.Second)
			if n := len(svc.callsTo("")); n != before {
				t.Errorf("%d requests for a key that is not refused", n-before)
			}
		})
	})
}

// refuseKey has a call be answered 401.
func refuseKey(s *Store, err error) {
	s.updateHealth(func(h *health, now time.Time) { h.refuseKey(err, now) })
}

func TestAPersonReadsThoughTheKeyIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lives, ids := awaitingMany(2)
		svc, refuses := keyed(lives...)
		watched(t, svc, nil, WatcherConfig{Workers: 1, WatchIDs: ids}, func(t *testing.T, s *Store, w *Watcher) {
			pass(10 * time.Second)
			refuses.Store(false)
			w.Refresh(ids[0])
			pass(time.Second)
			mustBe(t, s, ids[0], api.AwaitingConfirmation, Verified)
			mustBe(t, s, ids[1], api.AwaitingConfirmation, Verified)
		})
	})
}
