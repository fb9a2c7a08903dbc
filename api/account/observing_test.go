package account

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// seenBy is a request of somebody else that was answered 200 just now.
func seenBy(id, spender, key, endpoint string) quota.Observation {
	method, class := http.MethodGet, quota.Reads
	if !strings.Contains(endpoint, "{id}") || strings.HasSuffix(endpoint, "/confirm") {
		method, class = http.MethodPost, quota.Mutations
	}
	return quota.Observation{
		ID: id, Sent: time.Now(), Latency: 20 * time.Millisecond, Method: method, Endpoint: endpoint, Class: class, Status: http.StatusOK,
		Spender: spender, Key: key,
	}
}

const (
	intentsEndpoint = "/api/v1/checkout-intents"
	intentEndpoint  = intentsEndpoint + "/{id}"
	confirmEndpoint = intentEndpoint + "/confirm"
)

func spenderOf(t *testing.T, s *Store, kind SpenderKind, name api.Text) Spender {
	t.Helper()
	all := s.Summary().Spenders
	i := slices.IndexFunc(all, func(s Spender) bool { return s.Kind == kind && s.Name == name })
	if i < 0 {
		t.Fatalf("no %s spender %q among %+v", kind, name, all)
	}
	return all[i]
}

func TestAnIntentThatSomebodyMakesIsKnownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sold("ci_1", time.Now(), time.Minute, time.Minute, time.Minute)
		svc, feed := newService(l), newFeed()
		var broken atomic.Bool
		svc.fail = func(string, int) error {
			if broken.Load() {
				return errBroken
			}
			return nil
		}
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			pass(time.Second)
			o := seenBy("a", "shop-worker", "f00d", intentsEndpoint)
			o.IntentID, o.State, o.Reference = "ci_1", string(api.RetrievingOffer), "order 7"
			o.Status = http.StatusCreated
			broken.Store(true)
			w.Observe([]quota.Observation{o})
			in, known := s.Intent("ci_1")
			if !known || in.State != api.RetrievingOffer || in.Certainty != Reported || in.ReferenceID != "order 7" || len(in.Timeline) != 1 {
				t.Fatalf("at once: %+v", in)
			}
			if m := in.Timeline[0]; m.What != MadeElsewhere || m.Who != "shop-worker" || m.By() != ByProxy || m.To != api.RetrievingOffer {
				t.Errorf("how it is known: %+v", m)
			}
			if d := s.Summary().Day; d.Seen != 1 {
				t.Errorf("%d of the day's, want 1", d.Seen)
			}
			broken.Store(false)
			pass(10 * time.Second)
			mustBe(t, s, "ci_1", api.RetrievingOffer, Verified)
		})
	})
}

func TestAnObservedStateOnlyMovesAnIntentForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		observe := func(id, endpoint string, state api.IntentState, status int, ago time.Duration) {
			o := seenBy(id, "shop", "", endpoint)
			o.IntentID, o.State, o.Status, o.Sent = "ci_1", string(state), status, time.Now().Add(-ago)
			s.Observe([]quota.Observation{o})
		}
		s.ApplyRead(awaiting("ci_1", time.Now()), time.Now(), ByRead)
		pass(time.Minute)
		observe("refused", confirmEndpoint, api.PlacingOrder, http.StatusTooManyRequests, 0)
		observe("no state of the contract", intentEndpoint, "\x1b[2Jbought", http.StatusOK, 0)
		mustBe(t, s, "ci_1", api.AwaitingConfirmation, Verified)
		observe("confirm", confirmEndpoint, api.PlacingOrder, http.StatusOK, 0)
		mustBe(t, s, "ci_1", api.PlacingOrder, Reported)
		observe("older", intentEndpoint, api.AwaitingConfirmation, http.StatusOK, 30*time.Second)
		observe("again", intentEndpoint, api.PlacingOrder, http.StatusOK, 0)
		in, _ := s.Intent("ci_1")
		if n := len(in.Timeline); n != 2 || in.Timeline[1].What != ConfirmedElsewhere || in.State != api.PlacingOrder {
			t.Errorf("%d moments: %+v", n, in.Timeline)
		}
		if s.intents.confirms.balance != 1 || len(s.intents.confirms.delays) != 1 || s.intents.confirms.delays[0] != time.Minute {
			t.Errorf("what is learnt of confirms: %+v", s.intents.confirms)
		}
	})
}

func TestAnObservationCountsOnceAndWhenItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		s := NewStore(StoreConfig{Observed: func(*quota.Observation) { told++ }})
		pass(2 * time.Hour)
		o := seenBy("a", "shop", "f00d", intentEndpoint)
		late := seenBy("b", "shop", "f00d", intentEndpoint)
		late.Sent, late.Status = late.Sent.Add(-40*time.Minute), http.StatusTooManyRequests
		none, never := seenBy("c", "shop", "f00d", intentEndpoint), seenBy("d", "shop", "f00d", intentEndpoint)
		none.Status, never.Sent = 0, time.Time{}
		s.Observe([]quota.Observation{o, late, o, none, never, {}})
		s.Observe([]quota.Observation{late})
		if told != 3 || len(s.Changes(0).Requests) != 3 {
			t.Errorf("%d were reported, %d are listed; want 3", told, len(s.Changes(0).Requests))
		}
		who := spenderOf(t, s, SpenderObserved, "shop")
		minute, hour := Total(who.Over(LastMinute, "")), Total(who.Over(LastHour, quota.Reads))
		if minute.Requests != 2 || minute.Errors != 1 || hour.Requests != 3 || hour.Refused != 1 || who.Uses[0].P50 != 20*time.Millisecond {
			t.Errorf("in the last minute %+v, in the last hour %+v, of %+v", minute, hour, who)
		}
		pass(30 * time.Minute)
		who = spenderOf(t, s, SpenderObserved, "shop")
		if got := Total(who.Over(LastHour, "")).Requests; got != 2 || len(who.Over(LastMinute, "")) != 0 {
			t.Errorf("half an hour later %d in the last hour, %+v", got, who)
		}
	})
}

func TestHowLongAnswersTookOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saved, s := openSaved(t, t.TempDir()), NewStore(StoreConfig{})
		answers := func(s *Store, from, to int) {
			for i := from; i < to; i++ {
				o := seenBy(fmt.Sprint(i), "shop", "f00d", intentEndpoint)
				o.Latency = time.Duration(i%100) * time.Millisecond
				s.Observe([]quota.Observation{o, seenBy(fmt.Sprint("made ", i), "shop", "f00d", intentsEndpoint)})
			}
		}
		answers(s, 0, 150)
		mustSave(t, saved, s)
		restored := mustRestore(t, saved)
		want := spenderOf(t, s, SpenderObserved, "shop").Uses
		if got := spenderOf(t, restored, SpenderObserved, "shop").Uses; len(want) != 2 || want[0].P95 == 0 || got[0].P50 != want[0].P50 || got[0].P95 != want[0].P95 || got[1].P95 != want[1].P95 {
			t.Errorf("restored are %+v, want %+v", got, want)
		}
		answers(s, 150, 200)
		answers(restored, 150, 200)
		if got, want := spenderOf(t, restored, SpenderObserved, "shop").Uses[0], spenderOf(t, s, SpenderObserved, "shop").Uses[0]; got.P50 != want.P50 || got.P95 != want.P95 {
			t.Errorf("with the next answers it is %v and %v, want %v and %v", got.P50, got.P95, want.P50, want.P95)
		}
	})
}

func TestTwoKeysAreTwoSpenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		for i, who := range [][2]string{{"shop", "a1"}, {"shop", "b2"}, {"shop", "a1"}, {"", "c3"}, {"", ""}, {"\x1b]0;title\x07till", "d4"}, {strings.Repeat("é", 90), "e5"}} {
			s.Observe([]quota.Observation{seenBy(fmt.Sprint(i), who[0], who[1], intentEndpoint)})
		}
		var names []api.Text
		for _, e := range s.Changes(0).Requests {
			names = append(names, e.By)
		}
		want := []api.Text{"shop", "shop b2", "shop", "key c3", "without a key", api.Scrub("\x1b]0;title\x07till"), api.Text(strings.Repeat("é", 32))}
		if !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
		if n := len(s.Summary().Spenders); n != 6 {
			t.Errorf("%d spenders, want 6", n)
		}
	})
}

func TestSpendersAndEndpointsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		for i := range 200 {
			o := seenBy(fmt.Sprint(i), fmt.Sprint("shop ", i%100), "", fmt.Sprint("/", i%50))
			s.Observe([]quota.Observation{o})
		}
		all, requests := s.Summary().Spenders, 0
		for _, who := range all {
			requests += Total(who.Over(LastMinute, "")).Requests
			if len(who.Uses) > mostUses {
				t.Errorf("%d uses of %q", len(who.Uses), who.Name)
			}
		}
		if len(all) != mostObserved+1 || all[mostObserved].Kind != SpenderOthers || requests != 200 {
			t.Errorf("%d spenders with %d requests, want %d with 200", len(all), requests, mostObserved+1)
		}
		pass(25 * time.Hour)
		s.Observe([]quota.Observation{seenBy("new", "newcomer", "", intentEndpoint)})
		if who := spenderOf(t, s, SpenderObserved, "newcomer"); Total(who.Over(LastDay, "")).Requests != 1 {
			t.Errorf("a day later: %+v", who)
		}
	})
}

func TestOwnRequestsAreCountedByPurposeAndEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		for _, e := range []api.Exchange{
			{Method: "GET", Path: "/api/v1/checkout-intents/ci_1", Class: quota.Reads, Priority: quota.Hint, Status: 200},
			{Method: "GET", Path: "/api/v1/checkout-intents/ci_2", Class: quota.Reads, Priority: quota.Hint, Status: 429, Err: errBroken},
			{Method: "GET", Path: "/api/v1/shipments?ids=…", Class: quota.Reads, Priority: quota.Timer, Status: 500, Err: errBroken},
			{Method: "POST", Path: "/shop/lookup?url=…", Class: quota.Lookup, Status: 200},
		} {
			e.Sent = time.Now()
			s.RecordExchange(e)
		}
		s.RecordExchange(api.Exchange{Method: "GET", Path: "/api/v1/checkout-intents/ci_3", Class: quota.Reads, Err: errBroken}) // it never went out
		got := map[string]Tally{}
		for _, who := range s.Summary().Spenders {
			for _, u := range who.Uses {
				sum := Total(u.Seconds)
				sum.At = time.Time{}
				purpose, _ := who.Purpose.MarshalText()
				got[string(purpose)+" "+u.Endpoint] = sum
			}
		}
		want := map[string]Tally{
			"hint GET /api/v1/checkout-intents/{id}": {Requests: 2, Refused: 1}, "timer GET /api/v1/shipments": {Requests: 1, Errors: 1},
			"person POST /shop/lookup": {Requests: 1},
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestARequestThatTheRelayReportsAgainCountsOnceOverAllStarts(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"sent before": -time.Minute, "of a clock ahead": 2 * time.Minute, "late, of a clock behind": -50 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				pass(90 * time.Minute)
				newest, other := seenBy("a", "shop", "f00d", intentEndpoint), seenBy("b", "shop", "f00d", intentEndpoint)
				other.Sent = other.Sent.Add(ahead)
				for start, told := range [][]quota.Observation{{newest}, {newest, other}, {newest, other}, {other}, {newest, other}} {
					saved, err := OpenSaved(SavedConfig{Dir: dir, Account: "a"})
					if err != nil {
						t.Fatal(err)
					}
					s := NewStore(StoreConfig{})
					if err := saved.Restore(s); err != nil {
						t.Fatal(err)
					}
					s.Observe(told)
					who := spenderOf(t, s, SpenderObserved, "shop")
					if got, want := Total(who.Over(LastDay, "")).Requests, min(start+1, 2); got != want {
						t.Errorf("at start %d: %d requests, want %d", start+1, got, want)
					}
					mustSave(t, saved, s)
					pass(time.Minute)
				}
			})
		})
	}
}
