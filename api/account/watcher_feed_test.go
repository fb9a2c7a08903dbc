package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

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
				t.Fatal("no alert reports the gap")
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
				t.Errorf("%d missed, want the completion that no event reported", s.Summary().Events.Missed)
			}
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

func TestReturnOfTheFeedRereadsWhatWasNotReadSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Second, time.Minute, time.Hour)
		svc, feed := newService(l), newFeed()
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(2 * time.Second)
			feed.deliver(l.events()[0])
			pass(time.Minute) // confirmed by somebody else, which no event reports
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

func TestPlaceInTheFeedMovesWithWhatIsDelivered(t *testing.T) {
	s := NewStore(StoreConfig{})
	s.SetFeed(FeedStatus{State: FeedLive, Epoch: "one", Head: 3, Cursor: 1})
	cases := []struct {
		name         string
		step         func()
		cursor, head int64
	}{
		{"an event behind the head", func() { s.ApplyEvents([]Delivery{intentEvent(2, "ci_1", api.OfferRetrieved, noon)}, time.Now()) }, 2, 3},
		{"a batch beyond it", func() {
			s.ApplyEvents([]Delivery{intentEvent(3, "ci_2", api.OfferRetrieved, noon), intentEvent(5, "ci_3", api.OfferRetrieved, noon)}, time.Now())
		}, 5, 5},
		{"an event that is known, at another place", func() {
			again := intentEvent(2, "ci_1", api.OfferRetrieved, noon)
			again.Seq = 6
			s.ApplyEvents([]Delivery{again}, time.Now())
		}, 6, 6},
		{"a loss", func() { s.SetFeed(FeedStatus{State: FeedLost}) }, 6, 6},
		{"another journal", func() { s.SetFeed(FeedStatus{State: FeedReplaying, Epoch: "two", Head: 2, Reset: true}) }, 0, 2},
	}
	for _, c := range cases {
		before := s.Changes(0).Version
		c.step()
		after := s.Changes(0)
		if f := after.Summary.Feed; f.Cursor != c.cursor || f.Head != c.head {
			t.Errorf("%s: cursor %d, head %d, want %d and %d", c.name, f.Cursor, f.Head, c.cursor, c.head)
		}
		if after.Version == before {
			t.Errorf("%s: nobody was told", c.name)
		}
	}
}

func TestAJournalThatIsReplacedTwiceUnderOneNameLeavesTwoGaps(t *testing.T) {
	s := NewStore(StoreConfig{})
	for i, c := range []struct {
		name   string
		status FeedStatus
		gap    bool
	}{
		{"the first connection", FeedStatus{State: FeedLive, Epoch: "one", Head: 3, Cursor: 3}, false},
		{"a reset", FeedStatus{State: FeedReplaying, Epoch: "one", Reset: true}, true},
		{"the same, live", FeedStatus{State: FeedLive, Epoch: "one", Reset: true}, false},
		{"a loss", FeedStatus{State: FeedLost, Epoch: "one", Reset: true}, false},
		{"another reset", FeedStatus{State: FeedReplaying, Epoch: "one", Reset: true}, true},
		{"live again", FeedStatus{State: FeedLive, Epoch: "one", Reset: true}, false},
	} {
		if gap := s.SetFeed(c.status); gap != c.gap {
			t.Errorf("%d, %s: a gap %t", i, c.name, gap)
		}
	}
}

func TestThePlaceToResumeHasTheIDOfItsEvent(t *testing.T) {
	s := NewStore(StoreConfig{})
	s.SetFeed(FeedStatus{State: FeedLive, Epoch: "one"})
	d := intentEvent(2, "ci_1", api.OfferRetrieved, noon)
	d.ID = "evt_2"
	s.ApplyEvents([]Delivery{d}, time.Now())
	if at := s.Cursor(); at != "one:2:evt_2" {
		t.Errorf("cursor %q", at)
	}
	s.SetFeed(FeedStatus{State: FeedLive, Epoch: "one", Head: 3, Cursor: 3})
	if at := s.Cursor(); at != "one:3" {
		t.Errorf("cursor %q where the id is not known", at)
	}
}

func TestColdStartListsShipmentsBesideTheOpenIntents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		var lives []*life
		var events []api.Event
		for i := range 60 {
			l := sold(api.ID(fmt.Sprintf("ci_done_%02d", i)), now.Add(-time.Hour), time.Second, time.Second, time.Duration(i)*time.Second)
			lives, events = append(lives, l), append(events, l.events()...)
		}
		for i := range 6 {
			l := sold(api.ID(fmt.Sprintf("ci_open_%d", i)), now.Add(time.Duration(i-10)*time.Minute), time.Second, time.Hour, time.Second)
			lives, events = append(lives, l), append(events, l.events()[:1]...)
		}
		svc, feed := newService(lives...), newFeed()
		svc.latency = 300 * time.Millisecond
		for i := range 16 {
			id := api.ID(fmt.Sprintf("shp_%02d", i))
			svc.ship(api.Shipment{ID: id, IntentID: lives[i].id, Status: api.Shipped, UpdatedAt: now})
			events = append(events, api.Event{ID: "evt_" + id, Type: api.ShipmentCreated, CreatedAt: now.Add(-time.Minute), Source: api.EventSource{ID: id, Type: api.SourceShipment}})
		}
		watched(t, svc, feed, WatcherConfig{Workers: 1}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedReplaying)
			feed.deliver(events...)
			feed.state(FeedLive)
			pass(30 * time.Second)
			place := map[string]int{}
			for i, c := range svc.callsTo("") {
				place[c.path] = i
			}
			if got, made := place["shipments 16"]; !made || got > 2 {
				t.Errorf("the list of shipments was call %d (made: %v), want one of the first", got, made)
			}
			for i := range 6 {
				if got := place[fmt.Sprintf("intent ci_open_%d", i)]; got > 8 {
					t.Errorf("open intent %d was call %d, want it before the ended ones", i, got)
				}
			}
		})
	})
}

func TestColdStartWithTenThousandIntentsShowsThemAtOnceAndReadsTheOpenOnesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, open := unlessRaced(9950, 450), 50
		now := time.Now()
		var lives []*life
		var events []api.Event
		for i := range ended {
			l := sold(api.ID(fmt.Sprintf("ci_ended_%04d", i)), now.Add(-12*time.Hour+time.Duration(i)*time.Second), time.Second, time.Second, time.Second)
			lives, events = append(lives, l), append(events, l.events()...)
		}
		for i := range open {
			l := sold(api.ID(fmt.Sprintf("ci_open_%02d", i)), now.Add(time.Duration(i-open)*30*time.Second), time.Second, time.Hour, time.Second)
			lives, events = append(lives, l), append(events, l.events()[:1]...)
		}
		svc, feed := newService(lives...), newFeed()
		watched(t, svc, feed, WatcherConfig{Workers: 1}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedReplaying)
			for batch := range slices.Chunk(events, 500) {
				feed.deliver(batch...)
			}
			synctest.Wait()
			counts := s.Summary().Intents
			if n := len(svc.callsTo("")); counts[api.Completed] != ended || counts[api.AwaitingConfirmation] != open || n != 0 {
				t.Fatalf("when the journal has been read, %v are shown after %d reads", counts, n)
			}
			feed.state(FeedLive)
			pass(30 * time.Second)
			calls := svc.callsTo("intent ")
			for i := range open {
				if want := fmt.Sprintf("intent ci_open_%02d", open-1-i); calls[i].path != want {
					t.Fatalf("read %d was %s, want %s", i, calls[i].path, want)
				}
			}
			for i := range 100 {
				if want := fmt.Sprintf("intent ci_ended_%04d", ended-1-i); calls[open+i].path != want {
					t.Fatalf("read %d was %s, want %s", open+i, calls[open+i].path, want)
				}
			}
		})
	})
}

func TestAfterASleepEverythingOpenIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		open, ended := sold("ci_open", now, time.Second, time.Hour, time.Second), sold("ci_ended", now.Add(-time.Hour), time.Second, time.Second, time.Second)
		svc, feed := newService(open, ended), newFeed()
		svc.ship(api.Shipment{ID: "shp_1", IntentID: "ci_ended", Status: api.Shipped})
		svc.ship(api.Shipment{ID: "shp_2", IntentID: "ci_ended", Status: api.Delivered})
		watched(t, svc, feed, WatcherConfig{WatchIDs: []api.ID{"ci_open", "ci_ended"}}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			refreshShipments(w, "ci_ended")
			pass(10 * time.Second)
			before := len(svc.callsTo(""))
			w.woke(time.Now())
			pass(time.Second)
			var paths []string
			for _, c := range svc.callsTo("")[before:] {
				paths = append(paths, c.path)
				if c.priority != quota.Reconcile {
					t.Errorf("%s with priority %v", c.path, c.priority)
				}
			}
			slices.Sort(paths)
			if want := []string{"intent ci_open", "shipment shp_1"}; !slices.Equal(paths, want) {
				t.Errorf("read %q, want %q", paths, want)
			}
		})
	})
}

func TestWhereOnlySomeAreWantedNothingElseIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		one, other := sold("ci_one", now, time.Second, 10*time.Second, 20*time.Second), sold("ci_other", now, time.Second, 10*time.Second, 20*time.Second)
		svc, feed := newService(one, other), newFeed()
		svc.lists = true
		svc.ship(api.Shipment{ID: "shp_one", IntentID: "ci_one", Status: api.Shipped, UpdatedAt: now})
		svc.ship(api.Shipment{ID: "shp_other", IntentID: "ci_other", Status: api.Shipped, UpdatedAt: now})
		watched(t, svc, feed, WatcherConfig{WatchIDs: []api.ID{"ci_one"}, Only: []api.ID{"ci_one"}}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			for _, l := range []*life{one, other} {
				feed.deliver(l.events()...)
			}
			pass(time.Minute)
			refreshShipments(w, "ci_one")
			pass(time.Second)
			for _, id := range []api.ID{"shp_one", "shp_other"} {
				feed.deliver(api.Event{ID: "evt_" + id, Type: api.ShipmentUpdated, CreatedAt: time.Now(), Source: api.EventSource{ID: id, Type: api.SourceShipment}})
			}
			feed.status(FeedStatus{State: FeedLive, Since: time.Now(), Epoch: "one", LostFrom: 2, LostTo: 9})
			w.woke(time.Now())
			pass(time.Hour)
			mustBe(t, s, "ci_one", api.Completed, Verified)
			mustBe(t, s, "ci_other", api.Completed, Reported)
			for _, c := range svc.callsTo("") {
				if strings.Contains(c.path, "other") || c.path == "intents" {
					t.Errorf("%s was read", c.path)
				}
			}
			if len(svc.callsTo("shipment shp_one")) == 0 {
				t.Error("the shipment of the wanted one was not read")
			}
			if hasAlert(s, AlertGap) {
				t.Error("a gap stands for what is not wanted")
			}
		})
	})
}

func TestDiallingInVainEndsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		lost := time.Now()
		refused := errors.New("connection refused")
		s.SetFeed(FeedStatus{State: FeedLive, Since: lost.Add(-time.Hour), Epoch: "one"})
		for _, status := range []FeedStatus{{State: FeedLost, Err: refused}, {State: FeedConnecting}, {State: FeedLost, Err: refused}, {State: FeedConnecting}} {
			status.Since = time.Now()
			s.SetFeed(status)
			time.Sleep(7 * time.Second)
			if feed := s.Summary().Feed; feed.State != FeedLost || !feed.Since.Equal(lost) || feed.Err == nil {
				t.Errorf("the feed is %s since %v, %v; want lost since %v", feed.State, feed.Since, feed.Err, lost)
			}
		}
		s.SetFeed(FeedStatus{State: FeedReplaying, Since: time.Now()})
		if feed := s.Summary().Feed; feed.State != FeedReplaying || !feed.Since.Equal(time.Now()) {
			t.Errorf("connected again, the feed is %s since %v", feed.State, feed.Since)
		}
	})
}
