package account

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

var (
	_ Reader             = (*api.Client)(nil)
	_ Sink               = (*Watcher)(nil)
	_ func(api.Exchange) = (*Store)(nil).RecordExchange
)

// watched runs a test against a watcher in a bubble of its own time; the watcher
// has ended, and its goroutines with it, when watched returns.
func watched(t *testing.T, svc *fakeService, feed *fakeFeed, cfg WatcherConfig, test func(t *testing.T, s *Store, w *Watcher)) {
	t.Helper()
	watchedStore(t, NewStore(StoreConfig{}), svc, feed, cfg, test)
}

func watchedStore(t *testing.T, s *Store, svc *fakeService, feed *fakeFeed, cfg WatcherConfig, test func(t *testing.T, s *Store, w *Watcher)) {
	t.Helper()
	cfg.Store, cfg.Reader = s, svc
	if feed != nil {
		cfg.Feed = feed
	}
	w := NewWatcher(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	synctest.Wait()
	test(t, s, w)
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the watcher ended with %v", err)
	}
}

func pass(d time.Duration) {
	time.Sleep(d) // of the bubble's time
	synctest.Wait()
}

func mustBe(t *testing.T, s *Store, id api.ID, state api.IntentState, certainty Certainty) *IntentDetail {
	t.Helper()
	in, ok := s.Intent(id)
	if !ok {
		t.Fatalf("%s is not known", id)
	}
	if in.State != state || in.Certainty != certainty {
		t.Fatalf("%s is %q (certainty %d), want %q (%d)", id, in.State, in.Certainty, state, certainty)
	}
	return in
}

func TestEventIsReportedAtOnceAndVerifiedByOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Hour, time.Second)
		svc, feed := newService(l), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Second)
			e := l.events()[0]
			feed.deliver(e)
			synctest.Wait()
			mustBe(t, s, "ci_1", api.AwaitingConfirmation, Reported)
			feed.deliver(e)
			feed.deliver(e, e)
			pass(time.Second)
			in := mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
			if !in.Since.Equal(e.CreatedAt) || in.Total == nil || in.Product == "" || !in.ExpiresAt.Equal(l.created.Add(api.ConfirmWindow)) {
				t.Errorf("read intent lacks what was read: %+v", in)
			}
			if n := len(svc.callsTo("intent ")); n != 1 {
				t.Errorf("%d reads for four deliveries of one event, want 1", n)
			}
			if got := s.Summary().Events; got.Received != 1 || got.Duplicate != 3 {
				t.Errorf("counters %+v", got)
			}
			if p := svc.callsTo("intent ")[0].priority; p != quota.Hint {
				t.Errorf("priority %v of a hinted read", p)
			}
		})
	})
}

func TestExpiryIsReadWhenTheWindowCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := expired("ci_1", time.Now(), time.Second)
		svc, feed := newService(l), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Second)
			feed.deliver(l.events()[0])
			pass(api.ConfirmWindow - 2*time.Second)
			mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
			pass(6 * time.Second)
			in := mustBe(t, s, "ci_1", api.Failed, Verified)
			if news := slices.DeleteFunc(in.Timeline, func(m *Moment) bool { return m.What == Unchanged }); len(news) != 3 {
				t.Errorf("timeline %+v", in.Timeline)
			}
			reads := len(svc.callsTo("intent "))
			pass(24 * time.Hour)
			if n := len(svc.callsTo("intent ")); n != reads {
				t.Errorf("%d reads of an intent that has ended", n-reads)
			}
			if missed := s.Summary().Events.Missed; missed != 0 {
				t.Errorf("an expiry counted as %d missed events: none mentions it", missed)
			}
		})
	})
}

func TestWhereOthersConfirmAfterAUsualTimeTheLookComesThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const offer, wait, placing = 2 * time.Second, 40 * time.Second, 20 * time.Second
		var lives []*life
		for i := range 24 {
			lives = append(lives, sold(api.ID(fmt.Sprint("ci_", i)), time.Now().Add(time.Duration(i)*5*time.Minute), offer, wait, placing))
		}
		svc, feed := newService(lives...), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			for _, l := range lives {
				for _, e := range l.events() {
					time.Sleep(time.Until(e.CreatedAt))
					feed.deliver(e)
				}
			}
			pass(time.Minute)
			reads := 0
			for _, l := range lives[16:] {
				in := mustBe(t, s, l.id, api.Completed, Verified)
				seen := slices.IndexFunc(in.Timeline, func(m *Moment) bool { return m.State() == api.PlacingOrder })
				if seen < 0 {
					t.Errorf("%s: placing was never seen", l.id)
				} else if late := in.Timeline[seen].Learnt.Sub(l.moves[2].at); late > 10*time.Second {
					t.Errorf("%s: placing was seen %v after the confirm", l.id, late)
				}
				reads += len(svc.callsTo("intent " + string(l.id)))
			}
			if moves := 3 * 8; float64(reads) > 1.2*float64(moves) {
				t.Errorf("%d reads for %d moves", reads, moves)
			}
		})
	})
}
