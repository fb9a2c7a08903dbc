package account

import (
	"context"
	"fmt"
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
	s := NewStore(StoreConfig{})
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

func mustBe(t *testing.T, s *Store, id api.ID, state api.IntentState, certainty Certainty) *Intent {
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
			if len(in.Timeline) != 3 {
				t.Errorf("timeline %+v", in.Timeline)
			}
			reads := len(svc.callsTo("intent "))
			pass(24 * time.Hour)
			if n := len(svc.callsTo("intent ")); n != reads {
				t.Errorf("%d reads of an intent that has ended", n-reads)
			}
			if missed := s.Summary().Events.Missed; missed != 0 {
				t.Errorf("an expiry counted as %d missed events: none tells of it", missed)
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
			if text := in.Timeline[0].Text; text != "confirm accepted: placing order, 44.52 USD" {
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

func TestColdStartReadsOpenIntentsFirstAndTheNewestBeforeTheOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		var lives []*life
		var events []api.Event
		for i := range 100 {
			l := sold(api.ID(fmt.Sprintf("ci_done_%02d", i)), now.Add(-time.Hour), time.Second, time.Second, time.Duration(i)*time.Second)
			lives, events = append(lives, l), append(events, l.events()...)
		}
		for i := range 5 {
			l := sold(api.ID(fmt.Sprintf("ci_open_%d", i)), now.Add(time.Duration(i-10)*time.Minute), time.Second, time.Hour, time.Second)
			lives, events = append(lives, l), append(events, l.events()[:1]...)
		}
		svc, feed := newService(lives...), newFeed()
		watched(t, svc, feed, WatcherConfig{Workers: 1}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedReplaying)
			feed.deliver(events...)
			pass(time.Second)
			if n := len(svc.callsTo("intent ")); n != 0 {
				t.Fatalf("%d reads before the replay has ended", n)
			}
			mustBe(t, s, "ci_done_00", api.Completed, Reported)
			feed.state(FeedLive)
			pass(time.Minute)
			calls := svc.callsTo("intent ")
			for i := range 5 {
				if want := fmt.Sprintf("intent ci_open_%d", 4-i); calls[i].path != want {
					t.Errorf("read %d was %s, want %s", i, calls[i].path, want)
				}
			}
			if calls[5].path != "intent ci_done_99" || calls[5].priority != quota.Reconcile {
				t.Errorf("after the open ones %v, want the newest ended one, to be sure", calls[5])
			}
			if len(calls) != 105 {
				t.Errorf("%d reads of 105 intents", len(calls))
			}
		})
	})
}

func TestGapIsReconciledAndThenCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Minute, time.Minute)
		svc, feed := newService(l), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Second)
			feed.deliver(l.events()[0])
			pass(30 * time.Second)
			mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
			feed.state(FeedLost)
			svc.mu.Lock()
			svc.fail = func(string, int) error { return errBroken }
			svc.mu.Unlock()
			pass(3 * time.Minute)
			feed.status(FeedStatus{State: FeedLive, Since: time.Now(), Epoch: "one", LostFrom: 2, LostTo: 9})
			pass(time.Second)
			if !hasAlert(s, AlertGap) {
				t.Fatal("no alert tells of the gap")
			}
			svc.mu.Lock()
			svc.fail = nil
			svc.mu.Unlock()
			pass(2 * time.Minute)
			mustBe(t, s, "ci_1", api.Completed, Verified)
			if hasAlert(s, AlertGap) {
				t.Error("the gap's alert stands although everything open was read")
			}
			if s.Summary().Gaps != 1 {
				t.Errorf("%d gaps", s.Summary().Gaps)
			}
			if s.Summary().Events.Missed != 1 {
				t.Errorf("%d missed, want the completion that no event told of", s.Summary().Events.Missed)
			}
		})
	})
}

func TestOpenIntentsArePolledWhileTheFeedIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, 5*time.Minute, time.Minute)
		svc, feed := newService(l), newFeed()
		watched(t, svc, feed, WatcherConfig{WatchIDs: []api.ID{"ci_1"}}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(2 * time.Minute)
			feed.state(FeedLost)
			for range 8 {
				pass(time.Minute)
				in, _ := s.Intent("ci_1")
				if age := time.Since(in.ReadAt); !in.State.Terminal() && age > 31*time.Second {
					t.Errorf("the picture is %v old without a feed", age)
				}
			}
			mustBe(t, s, "ci_1", api.Completed, Verified)
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

func TestRefusedKeyStopsReadingUntilAPersonAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService(sold("ci_1", time.Now(), time.Second, time.Hour, time.Second), sold("ci_2", time.Now(), time.Second, time.Hour, time.Second))
		refuse := true
		svc.fail = func(string, int) error {
			if refuse {
				return fmt.Errorf("read intent: %w", api.ErrUnauthorized)
			}
			return nil
		}
		watched(t, svc, nil, WatcherConfig{Workers: 1, WatchIDs: []api.ID{"ci_1", "ci_2"}}, func(t *testing.T, s *Store, w *Watcher) {
			pass(4 * time.Minute)
			if n := len(svc.callsTo("intent ")); n != 1 {
				t.Errorf("%d reads with a refused key, want 1", n)
			}
			if s.Summary().API.State != APIUnauthorized || !hasAlert(s, AlertAPI) {
				t.Error("the picture does not say that the key is refused")
			}
			svc.mu.Lock()
			refuse = false
			svc.mu.Unlock()
			w.Refresh("ci_1")
			pass(time.Second)
			mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
			mustBe(t, s, "ci_2", api.AwaitingConfirmation, Verified)
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

type panickingFeed struct{ times int }

func (f *panickingFeed) Follow(ctx context.Context, sink Sink) error {
	if f.times++; f.times < 3 {
		panic("broken feed")
	}
	sink.FeedChanged(FeedStatus{State: FeedLive, Since: time.Now()})
	<-ctx.Done()
	return ctx.Err()
}

func TestFeedThatPanicsIsLostAndFollowedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		w := NewWatcher(WatcherConfig{Store: s, Reader: newService(), Feed: &panickingFeed{}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		pass(time.Second)
		if st := s.Summary().Feed; st.State != FeedLost || st.Err == nil {
			t.Errorf("feed %+v", st)
		}
		pass(time.Minute)
		if st := s.Summary().Feed; st.State != FeedLive {
			t.Errorf("feed %+v", st)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
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
			if n := len(svc.callsTo("")); n != 1 {
				t.Errorf("%d calls, want the one list", n)
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

func TestShipmentsOfACompletedIntentAreListedOnceIfNoEventTells(t *testing.T) {
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
			w.RefreshShipments("ci_1")
			pass(time.Second)
			if in, _ := s.Intent("ci_1"); len(in.Shipments) != 2 {
				t.Errorf("shipments %v after a person asked", in.Shipments)
			}
		})
	})
}

func hasAlert(s *Store, kind AlertKind) bool {
	for _, a := range s.Summary().Alerts {
		if a.Kind == kind {
			return true
		}
	}
	return false
}

func TestReturnOfTheFeedRereadsWhatWasNotReadSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Minute, time.Hour)
		svc, feed := newService(l), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(2 * time.Second)
			feed.deliver(l.events()[0])
			pass(time.Minute) // confirmed by somebody else, which no event tells
			mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
			feed.state(FeedLost)
			feed.state(FeedConnecting)
			feed.state(FeedLive)
			pass(time.Second)
			mustBe(t, s, "ci_1", api.PlacingOrder, Verified)
			reads := len(svc.callsTo("intent "))
			feed.state(FeedLost)
			pass(time.Millisecond)
			w.Refresh("ci_1")
			pass(time.Second)
			feed.state(FeedLive)
			pass(time.Second)
			if n := len(svc.callsTo("intent ")) - reads; n != 1 {
				t.Errorf("%d reads, want the person's alone: it was newer than the loss", n)
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
