package account

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// lossy is a day of a quiet account whose events are lost on their way.
type lossy struct {
	lives     []*life
	shipments []*shipmentLife
	kept      []api.Event // in the order of their creation
	found     int         // events that were lost and of which a read can tell
}

// busyHours are those of a day in which anything happens.
const busyHours = 14 * time.Hour

// lossyDay is so many intents, most of them sold and shipped over hours, of which
// a share of the events is lost. All have ended within its busy hours.
func lossyDay(seed uint64, intents int, lose float64) *lossy {
	random := rand.New(rand.NewPCG(seed, 3))
	between := func(from, to time.Duration) time.Duration { return from + rand64(random, to-from) }
	day, start := &lossy{}, time.Now().Add(time.Minute)
	for i := range intents {
		id, created := api.ID(fmt.Sprintf("ci_%03d", i)), start.Add(rand64(random, 4*time.Hour))
		if i%10 == 0 {
			day.live(random, lose, expired(id, created, between(5*time.Second, time.Minute)))
			continue
		}
		l := sold(id, created, between(5*time.Second, time.Minute), between(10*time.Second, 20*time.Minute), between(8*time.Second, time.Minute))
		var shipments []*shipmentLife
		for n := range 1 + random.IntN(2) {
			at := l.moves[3].at
			p := &shipmentLife{id: api.ID(fmt.Sprintf("shp_%03d_%d", i, n)), intent: id}
			for _, status := range []api.ShipmentStatus{api.Ordered, api.Shipped, api.OutForDelivery, api.Delivered} {
				at = at.Add(between(time.Minute, 2*time.Hour))
				p.moves = append(p.moves, shipmentMove{at, status})
			}
			shipments = append(shipments, p)
		}
		day.live(random, lose, l, shipments...)
	}
	slices.SortStableFunc(day.kept, func(a, b api.Event) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return day
}

// live adds an intent with its shipments and loses some of their events. That the
// offer's was lost shows nowhere once the intent has left its state.
func (d *lossy) live(random *rand.Rand, lose float64, l *life, shipments ...*shipmentLife) {
	d.lives, d.shipments = append(d.lives, l), append(d.shipments, shipments...)
	events := l.events()
	for _, p := range shipments {
		events = append(events, p.events()...)
	}
	for _, e := range events {
		switch {
		case random.Float64() >= lose:
			d.kept = append(d.kept, e)
		case e.Type != api.OfferRetrieved:
			d.found++
		}
	}
}

// wrong lists what a picture shows although it has not been true for a while, and
// what it does not know although a shipment or an event has named it for as long.
func (d *lossy) wrong(s *Store, while time.Duration) []string {
	var wrong []string
	now := time.Now()
	named := map[api.ID]bool{}
	for _, p := range d.shipments {
		since := p.moves[0].at
		if since.After(now.Add(-while)) {
			continue
		}
		named[p.intent] = true
		sh, known := s.Shipment(p.id)
		switch {
		case !known:
			wrong = append(wrong, fmt.Sprintf("%s is not known", p.id))
		case !p.was(sh.Status(), now.Add(-while), now):
			wrong = append(wrong, fmt.Sprintf("%s is shown as %q and is %q", p.id, sh.Status(), p.at(now)))
		}
	}
	for _, e := range d.kept {
		named[e.Source.ID] = named[e.Source.ID] || !e.CreatedAt.After(now.Add(-while))
	}
	for _, l := range d.lives {
		if !named[l.id] {
			continue
		}
		in, known := s.Intent(l.id)
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s is not known", l.id))
			continue
		}
		if !l.was(in.State, now.Add(-while), now) {
			wrong = append(wrong, fmt.Sprintf("%s is shown as %q and is %q", l.id, in.State, l.at(now)))
		}
	}
	return wrong
}

// was reports whether the intent was in a state at some time from one moment to
// another.
func (l *life) was(state api.IntentState, from, to time.Time) bool {
	return l.at(from) == state || slices.ContainsFunc(l.moves, func(m move) bool {
		return m.state == state && m.at.After(from) && !m.at.After(to)
	})
}

func (p *shipmentLife) was(status api.ShipmentStatus, from, to time.Time) bool {
	return p.at(from) == status || slices.ContainsFunc(p.moves, func(m shipmentMove) bool {
		return m.status == status && m.at.After(from) && !m.at.After(to)
	})
}

func TestThePictureOfAQuietAccountIsRightWithinTenMinutesWhateverIsLost(t *testing.T) {
	for seed, lose := range []float64{0.3, 0.3, 0.9, 1}[unlessRaced(0, 3):] {
		t.Run(fmt.Sprintf("%.0f %% lost, %d", 100*lose, seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				day := lossyDay(uint64(seed), 30, lose)
				svc, feed := newService(day.lives...), newFeed()
				for _, p := range day.shipments {
					svc.underWay[p.id] = p
				}
				watched(t, svc, feed, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
					feed.state(FeedLive)
					events := day.kept
					for minute := range int(busyHours / time.Minute) {
						until := time.Now().Add(time.Minute)
						for len(events) > 0 && events[0].CreatedAt.Before(until) {
							time.Sleep(time.Until(events[0].CreatedAt.Add(300 * time.Millisecond)))
							feed.deliver(events[0])
							events = events[1:]
						}
						pass(time.Until(until))
						if wrong := day.wrong(s, 10*time.Minute); len(wrong) > 0 {
							t.Fatalf("after %d minutes: %s", minute, strings.Join(wrong, "; "))
						}
					}
					sum := s.Summary()
					if most := int(busyHours/time.Second) * int(quota.Reads.DefaultLimit()) / 100; len(svc.callsTo("")) > most {
						t.Errorf("%d reads in these hours, want at most %d, which is 1 %% of the bucket", len(svc.callsTo("")), most)
					}
					if sum.Events.Missed != day.found {
						t.Errorf("%d events count as missed of %d that were lost and of which a read can tell", sum.Events.Missed, day.found)
					}
					many := slices.ContainsFunc(svc.callsTo("shipments "), func(c call) bool { return !slices.Contains([]string{"shipments 0", "shipments 1"}, c.path) })
					if !many {
						t.Error("no list was asked for several shipments at once")
					}
					t.Logf("%d reads in these hours, %d of them to be sure; %d events missed", len(svc.callsTo("")), sum.Reads.Reconciled, sum.Events.Missed)
				})
			})
		})
	}
}
