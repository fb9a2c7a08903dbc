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

func TestHintDuringAReadAsksForOneMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, 500*time.Millisecond, 500*time.Millisecond)
		svc, feed := newService(l), newFeed()
		svc.latency = 10 * time.Second
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Second)
			feed.deliver(l.events()[0])
			pass(2 * time.Second) // the read is under way
			feed.deliver(l.events()[1])
			feed.deliver(l.events()[1])
			pass(30 * time.Second)
			mustBe(t, s, "ci_1", api.Completed, Verified)
			if n := len(svc.callsTo("intent ")); n > 2 {
				t.Errorf("%d reads, want at most 2", n)
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

func TestConfirmElsewhereStartsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Minute, 50*time.Second)
		svc := newService(l)
		watched(t, svc, newFeed(), WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Minute + 2*time.Second)
			sent := time.Now()
			s.ApplyRead(l.read(sent), sent, ByConfirm)
			in := mustBe(t, s, "ci_1", api.PlacingOrder, Verified)
			if text := brief(in.Timeline[0]); text != "confirm: placing order, 44.52 USD" {
				t.Errorf("timeline says %q", text)
			}
			if s.Summary().Agents.Placing != 1 {
				t.Error("the placing intent is not counted")
			}
			pass(2 * time.Minute)
			mustBe(t, s, "ci_1", api.Completed, Verified)
			if n := len(svc.callsTo("intent ")); n < 3 || n > 6 {
				t.Errorf("%d reads while placing for 50 s, want a widening few", n)
			}
		})
	})
}

func TestWithoutAFeedEverythingIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService(sold("ci_1", time.Now(), 10*time.Second, time.Minute, 20*time.Second), expired("ci_2", time.Now(), time.Minute))
		watched(t, svc, nil, WatcherConfig{WatchIDs: []api.ID{"ci_1", "ci_2"}}, func(t *testing.T, s *Store, w *Watcher) {
			pass(4 * time.Minute)
			mustBe(t, s, "ci_1", api.Completed, Verified)
			mustBe(t, s, "ci_2", api.AwaitingConfirmation, Verified)
			pass(45 * time.Minute)
			mustBe(t, s, "ci_2", api.Failed, Verified)
			if sum := s.Summary(); sum.Events.Missed != 0 || sum.Feed.State != FeedOff {
				t.Errorf("summary %+v", sum)
			}
		})
	})
}

func TestWhereOthersConfirmPlacingIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := sold("ci_1", time.Now(), time.Second, 10*time.Second, 20*time.Second)
		second := sold("ci_2", time.Now().Add(time.Minute), time.Second, 10*time.Second, 20*time.Second)
		svc, feed := newService(first, second), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Second)
			feed.deliver(first.events()[0])
			pass(30 * time.Second)
			feed.deliver(first.events()[1]) // completed, and nobody here has confirmed it
			pass(30 * time.Second)
			feed.deliver(second.events()[0])
			pass(17 * time.Second)
			mustBe(t, s, "ci_2", api.PlacingOrder, Verified)
			if got := s.Summary().Agents.Placing; got != 1 {
				t.Errorf("%d agents at work, want 1", got)
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
