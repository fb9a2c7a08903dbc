package account

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// fact is one thing that reaches the store, in the order of a test's telling.
type fact func(s *Store)

func told(t api.EventType, second int) fact {
	return func(s *Store) {
		at := noon.Add(time.Duration(second) * time.Second)
		e := intentEvent(second, "ci_1", t, at)
		e.Event.ID = api.ID(fmt.Sprintf("%s %d", t, second))
		s.ApplyEvents([]Delivery{e}, time.Now())
	}
}

func readAs(state api.IntentState, second int) fact {
	return func(s *Store) {
		s.ApplyRead(api.Intent{ID: "ci_1", State: state, CreatedAt: noon}, noon.Add(time.Duration(second)*time.Second), ByRead)
	}
}

func notFoundAt(second int) fact {
	return func(s *Store) { s.ApplyMissing("ci_1", noon.Add(time.Duration(second)*time.Second)) }
}

func TestWhenAnIntentEndedIsKnownOnlyWhereItWasSeen(t *testing.T) {
	cases := []struct {
		name  string
		facts []fact
		want  int // seconds from noon; -1: it is not known
	}{
		{"the first read finds it ended", []fact{readAs(api.Completed, 3600)}, -1},
		{"a read long after the one before finds it ended", []fact{readAs(api.PlacingOrder, 5), readAs(api.Completed, 3600)}, -1},
		{"a read soon after the one before finds it ended", []fact{readAs(api.PlacingOrder, 5), readAs(api.Completed, 15)}, 15},
		{"an event tells it", []fact{told(api.IntentCompleted, 9)}, 9},
		{"an event tells it of what a read found", []fact{readAs(api.Completed, 3600), told(api.IntentCompleted, 9)}, 9},
		{"the first read finds it placing", []fact{readAs(api.PlacingOrder, 3600)}, 3600},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			for _, f := range c.facts {
				f(s)
			}
			want := time.Time{}
			if c.want >= 0 {
				want = noon.Add(time.Duration(c.want) * time.Second)
			}
			if in, _ := s.Intent("ci_1"); !in.Entered().Equal(want) {
				t.Errorf("it entered %s at %v, want %v", in.State, in.Entered(), want)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	cases := []struct {
		name      string
		facts     []fact
		state     api.IntentState
		certainty Certainty
		since     int // seconds from noon
		line      string
	}{
		{"an event proves its state", []fact{told(api.OfferRetrieved, 5)},
			api.AwaitingConfirmation, Reported, 5, "offer retrieved"},
		{"a read verifies it", []fact{told(api.OfferRetrieved, 5), readAs(api.AwaitingConfirmation, 6)},
			api.AwaitingConfirmation, Verified, 5, "offer retrieved | read: awaiting confirmation"},
		{"the same again is no news", []fact{readAs(api.AwaitingConfirmation, 6), readAs(api.AwaitingConfirmation, 7)},
			api.AwaitingConfirmation, Verified, 6, "read: awaiting confirmation | unchanged 1"},
		{"the event tells the moment better than the read before it", []fact{readAs(api.AwaitingConfirmation, 6), told(api.OfferRetrieved, 5)},
			api.AwaitingConfirmation, Verified, 5, "offer retrieved | read: awaiting confirmation"},
		{"a failed offer proves nothing", []fact{told(api.OfferFailed, 5)},
			"", Hinted, -1, "offer failed"},
		{"an intent has failed when its offer did, not when that was read", []fact{told(api.OfferFailed, 5), readAs(api.Failed, 600)},
			api.Failed, Verified, 5, "offer failed | read: failed"},
		{"that is so when the event comes later", []fact{readAs(api.Failed, 600), told(api.OfferFailed, 5)},
			api.Failed, Verified, 5, "offer failed | read: failed"},
		{"an event of an unknown type proves nothing", []fact{readAs(api.RetrievingOffer, 1), told("checkout_intent.placing_order", 5)},
			api.RetrievingOffer, Verified, 0, "read: retrieving offer | placing order"},
		{"an older read changes nothing", []fact{readAs(api.PlacingOrder, 6), readAs(api.AwaitingConfirmation, 5)},
			api.PlacingOrder, Verified, 6, "unchanged 1 | read: placing order"},
		{"a newer read that lags changes nothing", []fact{readAs(api.PlacingOrder, 6), readAs(api.AwaitingConfirmation, 7)},
			api.PlacingOrder, Verified, 6, "read: placing order | unchanged 1"},
		{"a read that lags behind an event changes nothing", []fact{told(api.IntentCompleted, 5), readAs(api.PlacingOrder, 6)},
			api.Completed, Reported, 5, "completed | unchanged 1"},
		{"a late event is told, not followed", []fact{told(api.IntentCompleted, 9), told(api.OfferRetrieved, 5)},
			api.Completed, Reported, 9, "offer retrieved (late true), already completed | completed"},
		{"an event after a verified end is told, not followed", []fact{readAs(api.Failed, 9), told(api.IntentCompleted, 10)},
			api.Failed, Verified, 9, "read: failed | completed (late false), already failed"},
		{"a read decides between two reported ends", []fact{told(api.IntentCompleted, 5), told(api.OrderFailed, 6), readAs(api.Failed, 7)},
			api.Failed, Verified, 7, "completed | order failed (late false), already completed | read: failed"},
		{"of two verified ends the newest sent holds", []fact{readAs(api.Failed, 7), readAs(api.Completed, 8), readAs(api.Failed, 6)},
			api.Completed, Verified, 8, "unchanged 1 | read: failed | read: completed"},
		{"an unknown state is shown as it came", []fact{readAs(api.AwaitingConfirmation, 5), readAs("requires_action", 6)},
			"requires_action", Verified, 6, "read: awaiting confirmation | read: requires action"},
		{"an unknown state is left for a known one", []fact{readAs("requires_action", 6), readAs(api.PlacingOrder, 8)},
			api.PlacingOrder, Verified, 8, "read: requires action | read: placing order"},
		{"an unknown state is not left for an event before it", []fact{readAs("requires_action", 6), told(api.OfferRetrieved, 5)},
			"requires_action", Verified, 6, "offer retrieved | read: requires action"},
		{"an unknown state is left for the end", []fact{readAs("requires_action", 6), told(api.IntentCompleted, 5)},
			api.Completed, Reported, 5, "completed | read: requires action"},
		{"an unknown state does not undo an end", []fact{told(api.IntentCompleted, 5), readAs("requires_action", 6)},
			api.Completed, Reported, 5, "completed | unchanged 1"},
		{"a read without a state says nothing of it", []fact{told(api.OfferRetrieved, 5), readAs("", 6)},
			api.AwaitingConfirmation, Reported, 5, "offer retrieved | unchanged 1"},
		{"not found keeps what is known", []fact{told(api.OfferRetrieved, 5), notFoundAt(6), notFoundAt(7)},
			api.AwaitingConfirmation, Reported, 5, "offer retrieved | not found"},
		{"seen first at its end", []fact{readAs(api.Completed, 5)},
			api.Completed, Verified, 5, "read: completed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			for _, f := range c.facts {
				f(s)
			}
			in, _ := s.Intent("ci_1")
			if in.State != c.state || in.Certainty != c.certainty {
				t.Errorf("%q (certainty %d), want %q (%d)", in.State, in.Certainty, c.state, c.certainty)
			}
			if c.since >= 0 && !in.Since.Equal(noon.Add(time.Duration(c.since)*time.Second)) {
				t.Errorf("since %v, want noon and %d s", in.Since, c.since)
			}
			if got := strings.Join(briefly(in.Timeline), " | "); got != c.line {
				t.Errorf("timeline %q\n    want %q", got, c.line)
			}
		})
	}
}

func TestStaysAreReadFromTheTimeline(t *testing.T) {
	s := NewStore(StoreConfig{})
	for _, f := range []fact{readAs(api.RetrievingOffer, 3), told(api.OfferRetrieved, 10), readAs(api.PlacingOrder, 40), told(api.IntentCompleted, 55)} {
		f(s)
	}
	in, _ := s.Intent("ci_1")
	stays := in.Stays()
	for state, want := range map[api.IntentState]time.Duration{api.RetrievingOffer: 10 * time.Second, api.AwaitingConfirmation: 30 * time.Second, api.PlacingOrder: 15 * time.Second} {
		if stays[state] != want {
			t.Errorf("%s for %v, want %v", state, stays[state], want)
		}
	}
	if len(stays) != 3 {
		t.Errorf("stays %v", stays)
	}
}

func TestMissedEventsAreCountedOnceAndTakenBack(t *testing.T) {
	begin := func(from api.IntentState) *Store {
		s := NewStore(StoreConfig{})
		s.SetFeed(FeedStatus{State: FeedLive, Since: time.Now().Add(-time.Hour)})
		readAs(from, 1)(s)
		return s
	}
	later := func() time.Time { return time.Now().Add(31 * time.Second) }
	cases := []struct {
		name  string
		store *Store
		facts []fact
		want  int
	}{
		{"an offer", begin(api.RetrievingOffer), []fact{readAs(api.AwaitingConfirmation, 2)}, 1},
		{"a completion", begin(api.PlacingOrder), []fact{readAs(api.Completed, 2)}, 1},
		{"an offer that failed", begin(api.RetrievingOffer), []fact{readAs(api.Failed, 2)}, 1},
		{"told in time", begin(api.PlacingOrder), []fact{readAs(api.Completed, 2), told(api.IntentCompleted, 2)}, 0},
		{"told before the read", begin(api.RetrievingOffer), []fact{told(api.OfferFailed, 2), readAs(api.Failed, 3)}, 0},
		{"a confirm has no event", begin(api.AwaitingConfirmation), []fact{readAs(api.PlacingOrder, 2)}, 0},
		{"expired by its time", begin(api.AwaitingConfirmation), []fact{readAs(api.Failed, 3600)}, 0},
		{"what was before is not expected", NewStore(StoreConfig{}), []fact{readAs(api.Completed, 2)}, 0},
		{"expired", begin(api.AwaitingConfirmation), []fact{func(s *Store) {
			s.ApplyRead(api.Intent{ID: "ci_1", State: api.Failed, Failure: &api.FailureReason{Code: api.Expired}}, noon.Add(time.Hour), ByRead)
		}}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range c.facts {
				f(c.store)
			}
			c.store.tick(time.Now())
			if n := c.store.Summary().Events.Missed; n != 0 {
				t.Errorf("%d missed before the grace is over", n)
			}
			c.store.tick(later())
			c.store.tick(later().Add(time.Hour))
			if n := c.store.Summary().Events.Missed; n != c.want {
				t.Errorf("%d missed, want %d", n, c.want)
			}
		})
	}
	t.Run("one that comes after all", func(t *testing.T) {
		s := begin(api.PlacingOrder)
		readAs(api.Completed, 2)(s)
		s.tick(later())
		told(api.IntentCompleted, 2)(s)
		s.tick(later())
		if n := s.Summary().Events.Missed; n != 0 {
			t.Errorf("%d missed", n)
		}
	})
}

func TestAStateThatTheContractDoesNotListIsKeptUntilItIsLeft(t *testing.T) {
	s := NewStore(StoreConfig{})
	for i, state := range []api.IntentState{"requires_action", "on_hold", api.PlacingOrder, "on_hold", api.Completed} {
		at := noon.Add(time.Duration(i) * time.Minute)
		s.ApplyRead(api.Intent{ID: "ci_1", State: state, CreatedAt: noon}, at, ByRead)
		if in, _ := s.Intent("ci_1"); in.State != state {
			t.Errorf("after a read of %q the state is %q", state, in.State)
		}
	}
	for state := range s.intents.counts {
		if !state.Known() {
			t.Errorf("%q is counted, though it was left", state)
		}
	}
	if counts := s.Summary().Intents; counts[api.Completed] != 1 || counts[""] != 0 {
		t.Errorf("counted as %v", counts)
	}
}
