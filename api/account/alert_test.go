package account

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

func awaiting(id api.ID, created time.Time) api.Intent {
	return api.Intent{ID: id, State: api.AwaitingConfirmation, CreatedAt: created}
}

func placing(id api.ID, created time.Time) api.Intent {
	return api.Intent{ID: id, State: api.PlacingOrder, CreatedAt: created}
}

// stands counts the alerts of a kind.
func stands(s *Store, kind AlertKind) (n int, first Alert) {
	for _, a := range s.Summary().Alerts {
		if a.Kind == kind {
			if n == 0 {
				first = a
			}
			n++
		}
	}
	return n, first
}

func TestAlertsAreRaisedOnceAndClearedWhenOver(t *testing.T) {
	var exhausted, window time.Duration
	cases := []struct {
		name  string
		kind  AlertKind
		begin func(s *Store)
		after time.Duration // until the alert stands
		end   func(s *Store)
	}{
		{
			name: "confirm window near its end", kind: AlertExpiring,
			begin: func(s *Store) { s.ApplyRead(awaiting("ci_1", time.Now()), time.Now(), ByRead) },
			after: 35*time.Minute + time.Second,
			end:   func(s *Store) { s.ApplyRead(placing("ci_1", time.Now()), time.Now(), ByConfirm) },
		},
		{
			name: "stuck placing", kind: AlertStuck,
			begin: func(s *Store) { s.ApplyRead(placing("ci_1", time.Now()), time.Now(), ByRead) },
			after: 5*time.Minute + time.Second,
			end: func(s *Store) {
				s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.IntentCompleted, time.Now())}, time.Now())
			},
		},
		{
			name: "awaiting for long", kind: AlertAwaiting,
			begin: func(s *Store) { s.ApplyRead(awaiting("ci_1", time.Now()), time.Now(), ByRead) },
			after: 20*time.Minute + time.Second,
			end:   func(s *Store) { s.ApplyRead(placing("ci_1", time.Now()), time.Now(), ByConfirm) },
		},
		{
			name: "awaiting for long, until the window's end is near", kind: AlertAwaiting,
			begin: func(s *Store) { s.ApplyRead(awaiting("ci_1", time.Now()), time.Now(), ByRead) },
			after: 20*time.Minute + time.Second,
			end:   func(*Store) { pass(15 * time.Minute) },
		},
		{
			name: "failed, for a while", kind: AlertFailed,
			begin: func(s *Store) {
				s.ApplyRead(placing("ci_1", time.Now()), time.Now(), ByRead)
				s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.OrderFailed, time.Now())}, time.Now())
			},
			end: func(*Store) { pass(5 * time.Minute) },
		},
		{
			name: "a relay that hears nothing", kind: AlertRelay,
			begin: func(s *Store) {
				s.SetFeed(FeedStatus{State: FeedLive, Since: time.Now()})
				s.ApplyEvents([]Delivery{intentEvent(1, "ci_0", api.OfferRetrieved, time.Now())}, time.Now())
				for _, id := range []api.ID{"ci_1", "ci_2", "ci_3"} {
					s.ApplyRead(api.Intent{ID: id, State: api.RetrievingOffer, CreatedAt: time.Now()}, time.Now(), ByRead)
					pass(time.Second)
					s.ApplyRead(awaiting(id, time.Now()), time.Now(), ByRead)
				}
			},
			after: 31 * time.Second,
			end: func(s *Store) {
				pass(time.Second)
				s.ApplyEvents([]Delivery{intentEvent(2, "ci_9", api.OfferRetrieved, time.Now())}, time.Now())
			},
		},
		{
			name: "relay lost", kind: AlertRelay,
			begin: func(s *Store) { s.SetFeed(FeedStatus{State: FeedLost, Since: time.Now()}) },
			after: 11 * time.Second,
			end:   func(s *Store) { s.SetFeed(FeedStatus{State: FeedLive, Since: time.Now()}) },
		},
		{
			name: "relay dialled again and again", kind: AlertRelay,
			begin: func(s *Store) {
				for range 4 {
					s.SetFeed(FeedStatus{State: FeedLost, Since: time.Now()})
					pass(time.Second)
					s.SetFeed(FeedStatus{State: FeedConnecting, Since: time.Now()})
					pass(time.Second)
				}
			},
			after: 4 * time.Second,
			end:   func(s *Store) { s.SetFeed(FeedStatus{State: FeedReplaying, Since: time.Now()}) },
		},
		{
			name: "relay refuses", kind: AlertRelay,
			begin: func(s *Store) { s.SetFeed(FeedStatus{State: FeedRefused, Since: time.Now()}) },
			end:   func(s *Store) { s.SetFeed(FeedStatus{State: FeedLive, Since: time.Now()}) },
		},
		{
			name: "wrong signatures", kind: AlertSignature,
			begin: func(s *Store) {
				s.SetFeed(FeedStatus{State: FeedLive, Wrong: "3 wrong signatures in 5m: the secret ends in a line break"})
			},
			end: func(s *Store) { s.SetFeed(FeedStatus{State: FeedLive}) },
		},
		{
			name: "gap", kind: AlertGap,
			begin: func(s *Store) { s.SetFeed(FeedStatus{State: FeedLive, Epoch: "one", LostFrom: 3, LostTo: 5}) },
			end:   func(s *Store) { s.closeGap() },
		},
		{
			name: "journal reset", kind: AlertGap,
			begin: func(s *Store) { s.SetFeed(FeedStatus{State: FeedLive, Epoch: "two", Reset: true}) },
			end:   func(s *Store) { s.closeGap() },
		},
		{
			name: "a clock that is behind", kind: AlertClock,
			begin: func(s *Store) {
				for range 3 {
					s.RecordExchange(api.Exchange{Status: 200, Sent: time.Now(), Date: time.Now().Add(10 * time.Minute)})
				}
			},
			end: func(s *Store) { s.RecordExchange(api.Exchange{Status: 200, Sent: time.Now(), Date: time.Now()}) },
		},
		{
			name: "API failing", kind: AlertAPI,
			begin: func(s *Store) {
				s.RecordExchange(api.Exchange{Status: 500, Err: errBroken})
				s.RecordExchange(api.Exchange{Status: 0, Err: errBroken})
			},
			end: func(s *Store) { s.RecordExchange(api.Exchange{Status: 200}) },
		},
		{
			name: "key refused", kind: AlertAPI,
			begin: func(s *Store) { s.RecordExchange(api.Exchange{Status: 401, Err: api.ErrUnauthorized}) },
			end:   func(s *Store) { s.RecordExchange(api.Exchange{Status: 200}) },
		},
		{
			name: "quota nearly used up", kind: AlertQuota,
			begin: func(*Store) { exhausted, window = 20*time.Second, time.Hour },
			after: time.Second,
			end:   func(*Store) { exhausted = 0 },
		},
		{
			name: "bucket of a second that stays empty", kind: AlertQuota,
			begin: func(s *Store) {
				exhausted = 1
				s.tick(time.Now())
			},
			after: 6 * time.Second,
			end:   func(*Store) { exhausted = 0 },
		},
		{
			name: "the day's intents nearly used up", kind: AlertDay,
			begin: func(s *Store) {
				for i := range 45 {
					s.ApplyRead(api.Intent{ID: api.ID(rune('a' + i)), State: api.Failed, CreatedAt: time.Now().Add(-24*time.Hour + time.Minute)}, time.Now(), ByRead)
				}
			},
			after: time.Second,
			end:   func(*Store) { pass(time.Minute) },
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				exhausted, window = 0, time.Second
				s := NewStore(StoreConfig{Quota: func(time.Time) []quota.Bucket {
					return []quota.Bucket{{Class: quota.Reads, Limit: 10, Window: window, Exhausted: exhausted}}
				}})
				s.tick(time.Now())
				if n, a := stands(s, c.kind); n != 0 {
					t.Fatalf("stands before it has begun: %+v", a)
				}
				c.begin(s)
				if c.after > time.Second {
					pass(c.after - 2*time.Second)
					s.tick(time.Now())
					if n, _ := stands(s, c.kind); n != 0 {
						t.Error("stands too early")
					}
					pass(2 * time.Second)
				}
				s.tick(time.Now())
				n, first := stands(s, c.kind)
				if n != 1 || first.Text == "" || first.Since.IsZero() {
					t.Fatalf("%d alerts, first %+v, want one", n, first)
				}
				before := s.Changes(0).Version
				pass(time.Second)
				s.tick(time.Now())
				if n, again := stands(s, c.kind); n != 1 || again != first {
					t.Errorf("%d alerts, raised again: %+v, then %+v", n, first, again)
				}
				if v := s.Changes(0).Version; v != before {
					t.Errorf("time passes and nothing changes, but the picture moved from %d to %d", before, v)
				}
				c.end(s)
				s.tick(time.Now())
				if n, a := stands(s, c.kind); n != 0 {
					t.Errorf("stands although it is over: %+v", a)
				}
			})
		})
	}
}

func TestThresholdsAreThoseThatWereSet(t *testing.T) {
	early := DefaultAlerts()
	early.AwaitingAfter, early.StuckAfter, early.RelayLostAfter, early.SilentAfter, early.QuotaWithin, early.DayLeft = time.Minute, time.Minute, time.Second, 1, time.Hour, 49
	for name, c := range map[string]struct {
		config AlertConfig
		want   []AlertKind
	}{
		"never": {AlertConfig{}, nil},
		"early": {early, []AlertKind{AlertAwaiting, AlertDay, AlertFailed, AlertOrder, AlertQuota, AlertRelay, AlertStuck}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewStore(StoreConfig{Alerts: &c.config, Quota: func(time.Time) []quota.Bucket {
					return []quota.Bucket{{Class: quota.Mutations, Limit: 50, Window: time.Hour, Exhausted: 20 * time.Minute}}
				}})
				for i := range 40 {
					s.ApplyRead(api.Intent{ID: api.ID(rune('a' + i)), State: api.Completed, CreatedAt: time.Now()}, time.Now(), ByRead)
				}
				s.ApplyRead(awaiting("ci_1", time.Now()), time.Now(), ByRead)
				s.ApplyRead(placing("ci_2", time.Now()), time.Now(), ByRead)
				pass(2 * time.Minute)
				s.ApplyRead(api.Intent{ID: "ci_3", State: api.Failed, CreatedAt: time.Now()}, time.Now(), ByRead)
				s.SetFeed(FeedStatus{State: FeedLost, Since: time.Now().Add(-time.Minute)})
				for _, state := range []api.IntentState{api.Completed, api.Failed} {
					s.ApplyRead(api.Intent{ID: "ci_of_" + api.ID(state), State: state, CreatedAt: time.Now().Add(-time.Hour), ReferenceID: "order-1"}, time.Now(), ByRead)
				}
				if c.want == nil {
					s.ApplyRead(awaiting("ci_4", time.Now().Add(-time.Hour)), time.Now(), ByRead)
				}
				s.tick(time.Now())
				var got []AlertKind
				for _, a := range s.Summary().Alerts {
					got = append(got, a.Kind)
				}
				slices.Sort(got)
				if !slices.Equal(got, c.want) {
					t.Errorf("alerts %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestBucketOfASecondThatIsEmptyNowAndThenIsNoAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty := time.Duration(0)
		s := NewStore(StoreConfig{Quota: func(time.Time) []quota.Bucket {
			return []quota.Bucket{{Class: quota.Reads, Limit: 10, Window: time.Second, Exhausted: empty}}
		}})
		for second := range 60 {
			empty = 0
			if second%4 != 0 {
				empty = 1
			}
			s.tick(time.Now())
			if n, a := stands(s, AlertQuota); n != 0 {
				t.Fatalf("after %d s: %+v", second, a)
			}
			pass(time.Second)
		}
	})
}

func TestTheAlertOfABucketThatIsNoMoreEnds(t *testing.T) {
	for name, window := range map[string]time.Duration{"of a second": time.Second, "of an hour": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				buckets := []quota.Bucket{{Class: quota.Reads, Limit: 10, Window: window, Exhausted: 1}}
				s := NewStore(StoreConfig{Quota: func(time.Time) []quota.Bucket { return buckets }})
				s.tick(time.Now())
				pass(emptyFor)
				s.tick(time.Now())
				if n, _ := stands(s, AlertQuota); n != 1 {
					t.Fatalf("%d alerts of an empty bucket", n)
				}
				buckets = []quota.Bucket{{Class: quota.Reads, Limit: 20, Window: window}}
				s.tick(time.Now())
				if n, a := stands(s, AlertQuota); n != 0 {
					t.Errorf("the limit was raised: %+v", a)
				}
			})
		})
	}
}

func hasAlert(s *Store, kind AlertKind) bool {
	for _, a := range s.Summary().Alerts {
		if a.Kind == kind {
			return true
		}
	}
	return false
}
