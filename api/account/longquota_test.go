package account

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// paced has a service count reads in ten seconds and in a day.
func paced(svc *fakeService, aDay int) *fakeService {
	left, resets := aDay, time.Now().Add(24*time.Hour)
	svc.pacer = quota.NewPacer(quota.PacerConfig{})
	svc.header = func() http.Header {
		svc.mu.Lock()
		defer svc.mu.Unlock()
		left--
		return http.Header{
			"Ratelimit-Policy": {fmt.Sprintf(`"second";q=10;w=1, "daily";q=%d;w=86400`, aDay)},
			"Ratelimit":        {fmt.Sprintf(`"second";r=9;t=1, "daily";r=%d;t=%d`, left, int(time.Until(resets).Seconds()))},
		}
	}
	return svc
}

// waiting returns n intents that wait for their confirm.
func waiting(n int) (lives []*life, ids []api.ID) {
	for i := range n {
		l := sold(api.ID(fmt.Sprintf("ci_%03d", i)), time.Now().Add(-time.Minute), time.Second, 100*time.Hour, time.Second)
		lives, ids = append(lives, l), append(ids, l.id)
	}
	return lives, ids
}

func verified(s *Store) (n int) {
	for _, in := range s.Changes(0).Intents {
		if in.Certainty == Verified {
			n++
		}
	}
	return n
}

func TestAFreshStartWithADailyPolicyFillsTheBoardInSeconds(t *testing.T) {
	for _, lists := range []bool{true, false} {
		t.Run(fmt.Sprintf("the service lists intents: %v", lists), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lives, ids := waiting(60)
				svc := paced(newService(lives...), 5000)
				svc.lists, svc.page = lists, 20
				cfg := WatcherConfig{}
				if !lists {
					cfg.WatchIDs = ids
				}
				watched(t, svc, nil, cfg, func(t *testing.T, s *Store, _ *Watcher) {
					pass(25 * time.Second)
					if n := verified(s); n != len(lives) {
						t.Errorf("%d of %d intents are read after 25 s, by %d requests", n, len(lives), len(svc.callsTo("")))
					}
				})
			})
		})
	}
}

// Of a hundred a day, thirty are for what nobody asked for: the reads of a start soon wait.
func TestWhatIsAskedForPassesReadsThatWaitForALongWindow(t *testing.T) {
	tests := []struct {
		name string
		asks func(w *Watcher, feed *fakeFeed, l *life)
	}{
		{"an event", func(_ *Watcher, feed *fakeFeed, l *life) {
			e := l.events()[0]
			e.CreatedAt = time.Now()
			feed.deliver(e)
		}},
		{"a person", func(w *Watcher, _ *fakeFeed, l *life) { w.Refresh(l.id) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lives, ids := waiting(40)
				svc, feed := paced(newService(lives...), 100), newFeed()
				watched(t, svc, feed, WatcherConfig{WatchIDs: ids}, func(t *testing.T, s *Store, w *Watcher) {
					feed.state(FeedLive)
					pass(5 * time.Minute)
					if n := verified(s); n < 10 || n == len(lives) {
						t.Fatalf("%d of %d intents are read", n, len(lives))
					}
					for _, l := range lives {
						if in, _ := s.Intent(l.id); in.Certainty == Verified {
							continue
						}
						before := len(svc.callsTo("intent " + string(l.id)))
						test.asks(w, feed, l)
						pass(2 * time.Second)
						if n := len(svc.callsTo("intent " + string(l.id))); n == before {
							t.Fatalf("%s was not read: it waits behind reads that nobody asked for", l.id)
						}
						if verified(s) > 16 {
							break // the quota of events is used up, too
						}
					}
				})
			})
		})
	}
}
