package account

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// hardship is what a simulated relay and service do to the watcher.
type hardship struct {
	lose, double, delay float64 // shares of the events
	fail                float64 // share of the reads
	outage              time.Duration
}

// simulate lets intents live their lives over a span, under a hardship, and
// returns the settled picture.
func simulate(t *testing.T, seed uint64, intents int, span time.Duration, h hardship, judge func(s *Store, svc *fakeService, lives []*life, staleness []time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 1))
		between := func(from, to time.Duration) time.Duration { return from + rand64(random, to-from) }
		start := time.Now()
		var lives []*life
		for i := range intents {
			id := api.ID(fmt.Sprintf("ci_%05d", i))
			created := start.Add(rand64(random, span))
			switch random.IntN(10) {
			case 0:
				lives = append(lives, expired(id, created, between(5*time.Second, time.Minute)))
			case 1:
				l := sold(id, created, between(5*time.Second, time.Minute), between(10*time.Second, 20*time.Minute), between(8*time.Second, time.Minute))
				l.moves[3].state, l.moves[3].event = api.Failed, api.OrderFailed
				lives = append(lives, l)
			default:
				lives = append(lives, sold(id, created, between(5*time.Second, time.Minute), between(10*time.Second, 20*time.Minute), between(8*time.Second, time.Minute)))
			}
		}
		svc, feed := newService(lives...), newFeed()
		failures := rand.New(rand.NewPCG(seed, 2))
		svc.fail = func(string, int) error {
			svc.mu.Lock()
			defer svc.mu.Unlock()
			if failures.Float64() < h.fail {
				return errBroken
			}
			return nil
		}
		watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			feed.state(FeedLive)
			staleness := runLives(s, feed, lives, span, h, random)
			pass(2 * time.Hour)
			judge(s, svc, lives, staleness)
		})
	})
}

func rand64(r *rand.Rand, n time.Duration) time.Duration { return time.Duration(r.Int64N(int64(n))) }

// occurrence is something that happens in a simulation.
type occurrence struct {
	at    time.Time
	event *api.Event // delivered
	life  *life      // confirmed by this process
	move  move
}

// runLives delivers the events of lives and reports their confirms. It returns
// how long after each move the picture showed it.
func runLives(s *Store, feed *fakeFeed, lives []*life, span time.Duration, h hardship, random *rand.Rand) []time.Duration {
	start := time.Now()
	outage := start.Add(span / 3)
	var all []occurrence
	for _, l := range lives {
		events := l.events()
		for _, m := range l.moves[1:] {
			if m.state == api.PlacingOrder {
				all = append(all, occurrence{at: m.at, life: l, move: m})
			}
		}
		for i := range events {
			e := &events[i]
			if random.Float64() < h.lose {
				continue
			}
			at := e.CreatedAt.Add(300 * time.Millisecond)
			if random.Float64() < h.delay {
				at = at.Add(rand64(random, 2*time.Minute))
			}
			if !at.Before(outage) && at.Before(outage.Add(h.outage)) {
				at = outage.Add(h.outage) // replayed when the relay is back
			}
			all = append(all, occurrence{at: at, event: e})
			if random.Float64() < h.double {
				all = append(all, occurrence{at: at.Add(rand64(random, time.Minute)), event: e})
			}
		}
	}
	all = append(all, occurrence{at: outage}, occurrence{at: outage.Add(h.outage - time.Millisecond)})
	slices.SortStableFunc(all, func(a, b occurrence) int { return a.at.Compare(b.at) })
	lost := false
	for _, o := range all {
		time.Sleep(time.Until(o.at))
		switch {
		case o.event != nil:
			feed.deliver(*o.event)
		case o.life != nil:
			s.ApplyRead(o.life.read(time.Now()), time.Now(), ByConfirm)
		case h.outage > 0 && !lost:
			feed.state(FeedLost)
			lost = true
		case h.outage > 0:
			feed.state(FeedLive)
		}
	}
	return shownAfter(s, lives)
}

// shownAfter is how long after each move with an event or an expiry the picture
// learnt of it.
func shownAfter(s *Store, lives []*life) []time.Duration {
	pass(2 * time.Hour)
	var spans []time.Duration
	for _, l := range lives {
		in, ok := s.Intent(l.id)
		if !ok {
			continue
		}
		for _, m := range l.moves[1:] {
			if i := slices.IndexFunc(in.Timeline, func(o *Moment) bool { return o.State() == m.state }); i >= 0 {
				spans = append(spans, max(0, in.Timeline[i].Learnt.Sub(m.at)))
			}
		}
	}
	slices.Sort(spans)
	return spans
}

func TestEveryIntentEndsRightUnderHardship(t *testing.T) {
	harsh := hardship{lose: 0.01, double: 0.05, delay: 0.10, fail: 0.03, outage: 5 * time.Minute}
	cases := []struct {
		name    string
		intents int
		span    time.Duration
		hard    hardship
		reads   float64 // at most, for each state change
	}{
		{"a calm day of 50", 50, 24 * time.Hour, hardship{}, 1.3},
		{"a hard day of 50", 50, 24 * time.Hour, harsh, 1.5},
		{"a calm half hour of 200", 200, time.Hour / 2, hardship{}, 1.3},
		{"a hard half hour of 200", 200, time.Hour / 2, harsh, 2.0},
	}
	for i, c := range cases[unlessRaced(0, 2):] {
		t.Run(c.name, func(t *testing.T) {
			simulate(t, uint64(i+1), c.intents, c.span, c.hard, func(s *Store, svc *fakeService, lives []*life, shown []time.Duration) {
				unknown := 0
				for _, l := range lives {
					in, ok := s.Intent(l.id)
					if !ok {
						unknown++ // every event of it was lost, and nothing else named it
						continue
					}
					if want := l.at(time.Now()); in.State != want || in.Certainty != Verified {
						t.Errorf("%s ended as %q (certainty %d), the truth is %q", l.id, in.State, in.Certainty, want)
					}
				}
				if most := int(float64(c.intents) * c.hard.lose * 3); unknown > most {
					t.Errorf("%d intents never became known, want at most %d", unknown, most)
				}
				sum := s.Summary()
				if per := sum.Reads.PerStateChange(); per > c.reads {
					t.Errorf("%.2f reads for a state change, want at most %.2f", per, c.reads)
				}
				t.Logf("%.2f reads for a state change; shown after p50 %v p99 %v; events %+v; reads %+v",
					sum.Reads.PerStateChange(), quantile(shown, 0.5), quantile(shown, 0.99), sum.Events, sum.Reads)
			})
		})
	}
}

func TestWithoutARelayReadsKeepToTheWideningSchedule(t *testing.T) {
	// Spans between the reads of a state, in seconds; after them 30 s, which grow
	// with an eighth of the state's age up to two minutes.
	schedules := map[api.IntentState][]int{
		api.RetrievingOffer: {5, 10, 20}, api.AwaitingConfirmation: {}, api.PlacingOrder: {2, 5, 10, 20},
	}
	atMost := func(l *life) int {
		reads := 1 // of its end
		for i, m := range l.moves[:len(l.moves)-1] {
			lasts := l.moves[i+1].at.Sub(m.at)
			for n, at := 0, time.Duration(0); at <= lasts; n++ {
				span := max(30*time.Second, min(at/8, 2*time.Minute))
				if steps := schedules[m.state]; n < len(steps) {
					span = time.Duration(steps[n]) * time.Second
				}
				at += span
				reads++
			}
		}
		if last := l.moves[len(l.moves)-1]; last.event == "" {
			reads += 2 // beside the window's end, where an expiry is looked for
		}
		return reads
	}
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(11, 1))
		start := time.Now()
		var lives []*life
		var ids []api.ID
		for i := range 60 {
			id, created := api.ID(fmt.Sprintf("ci_%02d", i)), start.Add(-rand64(random, time.Second))
			l := sold(id, created, 2*time.Second+rand64(random, 20*time.Minute), time.Second+rand64(random, 20*time.Minute), 2*time.Second+rand64(random, 4*time.Minute))
			if i%6 == 0 {
				l = expired(id, created, 2*time.Second+rand64(random, time.Minute))
			}
			lives, ids = append(lives, l), append(ids, id)
		}
		svc := newService(lives...)
		watched(t, svc, nil, WatcherConfig{WatchIDs: ids, Workers: 100}, func(t *testing.T, s *Store, w *Watcher) {
			pass(3 * time.Hour)
			all, allowed := 0, 0
			for _, l := range lives {
				mustBe(t, s, l.id, l.at(time.Now()), Verified)
				reads, most := len(svc.callsTo("intent "+string(l.id))), atMost(l)
				if reads > most {
					t.Errorf("%s: %d reads, the schedule allows %d", l.id, reads, most)
				}
				all, allowed = all+reads, allowed+most
			}
			if all < allowed/2 {
				t.Errorf("%d reads where the schedule allows %d: it says nothing", all, allowed)
			}
			shown := shownAfter(s, lives)
			if last := shown[len(shown)-1]; last > 2*time.Minute+time.Second {
				t.Errorf("a move was shown %v late, want no more than the widest span", last)
			}
			t.Logf("%d reads, the schedule allows %d; %.1f for a state change; shown after p50 %v p99 %v", all, allowed, s.Summary().Reads.PerStateChange(), quantile(shown, 0.5), quantile(shown, 0.99))
		})
	})
}
