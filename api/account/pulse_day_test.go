package account_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// fact is what the stand-in knows of an intent. Moments are zero where nothing
// happened.
type fact struct {
	created, offered, confirmed, ended time.Time
	state                              api.IntentState
	expired                            bool
	total                              int64
}

// facts reads what the stand-in has recorded of orders that have all ended.
func (s *stage) facts(t *testing.T, orders []order) []fact {
	t.Helper()
	var all []fact
	for _, o := range orders {
		_, body := s.truth(t, "/api/v1/checkout-intents/"+o.id)
		in, err := api.DecodeIntent(body)
		if err != nil {
			t.Fatal(err)
		}
		happened := func(state api.IntentState) time.Time {
			there, body := s.truth(t, fmt.Sprintf("/api/v1/events/evt_%s_%s", o.id, state))
			if !there {
				return time.Time{}
			}
			e, err := api.DecodeEvent(body)
			if err != nil {
				t.Fatal(err)
			}
			return e.CreatedAt
		}
		r := fact{created: in.CreatedAt, offered: happened(api.AwaitingConfirmation), confirmed: o.sent, ended: happened(in.State), state: in.State}
		if r.ended.IsZero() {
			r.expired, r.ended = true, in.CreatedAt.Add(api.ConfirmWindow)
		}
		if total, ok := in.Total(); ok {
			r.total = total.Subunits
		}
		all = append(all, r)
	}
	return all
}

// TestThePulseOfADayIsTheStandInsRecord compares a day's pulse with what the stand-in
// has recorded: counts and sums exactly, percentiles to one sample.
func TestThePulseOfADayIsTheStandInsRecord(t *testing.T) {
	cfg := simulator.Config{Seed: 6, ProductEventsPerMinute: -1, Limits: simulator.Limits{Reads: 10, PerDay: -1, Agents: -1}}
	intents, hours := account.UnlessRaced(20, 10), 2
	if os.Getenv(longSimulations) != "" {
		intents, hours = 80, 22
	}
	span := time.Duration(hours) * time.Hour
	onStage(t, cfg, func(t *testing.T, s *stage) {
		orders := s.take(t, play{intents: intents, span: span, here: 1}, rand.New(rand.NewPCG(6, 7)))
		time.Sleep(time.Hour) // until all has ended
		facts := s.facts(t, orders)

		now := time.Now()
		noon := time.FixedZone("where a day has begun meanwhile", int((24*time.Hour-span/2)/time.Second))
		picture := s.store.Changes(0)
		p := account.PulseOf(slices.Values(picture.Intents), &picture.Summary, now.In(noon))
		judgeBeats(t, p.Hour, time.Minute, facts)
		judgeBeats(t, p.Day, 15*time.Minute, facts)
		judgeDay(t, "today", &p.Today, facts)
		if p.Waiting != 0 || p.Today.Completed == 0 {
			t.Errorf("%d await a decision, %d were completed today: it says too little", p.Waiting, p.Today.Completed)
		}
	})
}

func judgeBeats(t *testing.T, beats []account.Beat, width time.Duration, facts []fact) {
	t.Helper()
	for _, got := range beats {
		in := func(at time.Time) bool { return !at.Before(got.At) && at.Before(got.At.Add(width)) }
		want := account.Beat{At: got.At, Known: got.Known}
		for _, r := range facts {
			if in(r.created) {
				want.Created++
			}
			if in(r.offered) {
				want.Offered++
			}
			if in(r.confirmed) {
				want.Confirmed++
			}
			switch {
			case !in(r.ended):
			case r.state == api.Completed:
				want.Completed++
			case r.expired:
				want.Expired++
			default:
				want.Failed++
			}
		}
		if got != want {
			t.Errorf("in the %v from %v there is %+v, in truth %+v", width, got.At, got, want)
		}
	}
}

func judgeDay(t *testing.T, name string, got *account.DayPulse, facts []fact) {
	t.Helper()
	in := func(at time.Time) bool { return !at.Before(got.From) && at.Before(got.To) }
	var created, completed, failed, expired int
	var value int64
	var offers, placed []time.Duration
	for _, r := range facts {
		if in(r.created) {
			created++
		}
		if in(r.offered) {
			offers = append(offers, r.offered.Sub(r.created))
		}
		switch {
		case !in(r.ended):
		case r.state == api.Completed:
			completed++
			value += r.total
			placed = append(placed, r.ended.Sub(r.confirmed))
		case r.expired:
			expired++
		default:
			failed++
		}
	}
	if got.Created != created || got.Completed != completed || got.Failed != failed || got.Expired != expired {
		t.Errorf("%s is %+v, in truth %d were created, %d completed, %d failed, %d expired", name, got, created, completed, failed, expired)
	}
	if got.Unpriced != 0 || len(got.Value) != 1 || got.Value[0].Subunits != value {
		t.Errorf("%s came to %v (%d unknown), in truth %d", name, got.Value, got.Unpriced, value)
	}
	judgePace(t, name+"'s offers", got.Offer, offers)
	judgePace(t, name+"'s orders", got.Order, placed)
}

// judgePace wants each percentile to lie within one sample of the exact one.
func judgePace(t *testing.T, name string, got account.Pace, samples []time.Duration) {
	t.Helper()
	slices.Sort(samples)
	if got.Count != len(samples) {
		t.Errorf("%s stand on %d, in truth %d", name, got.Count, len(samples))
		return
	}
	for q, percentile := range map[float64]time.Duration{0.50: got.P50, 0.95: got.P95} {
		rank := int(q * float64(len(samples)))
		from, to := samples[max(rank-1, 0)], samples[min(rank+1, len(samples)-1)]
		if percentile < from || percentile > to {
			t.Errorf("%s: the %v quantile is %v, in truth from %v to %v", name, q, percentile, from, to)
		}
	}
}
