package simulator

import (
	"math"
	"time"
)

// writeHistory simulates the past hours, with the same state machine on an agenda that begins before now. Most
// intents have ended; a few are open: each lane of a dashboard has something to show at the start.
func (s *shop) writeHistory(now time.Time) {
	n := s.cfg.History
	if n <= 0 {
		return
	}
	awaiting, placing, retrieving := min(n/5, 40), min((n+8)/10, 4), min(n/12, 3)
	for i := range n {
		d := newDice(s.cfg.Seed, diceHistory, uint64(i))
		w, payment := s.inventOrder(d)
		age, fate := s.finished(d, i, n)
		switch left := n - 1 - i; {
		case left < retrieving:
			begun := d.later(3 * time.Second)
			age, fate = s.cfg.scaled(begun), Fate{OfferAfter: begun + d.later(s.cfg.Timings.Offer)}
		case left < retrieving+placing:
			begun := d.later(10 * time.Second)
			age = s.cfg.scaled(35*time.Second + begun)
			fate = Fate{OfferAfter: 10 * time.Second, ConfirmAfter: 25 * time.Second, PlacingAfter: begun + d.later(s.cfg.Timings.Placing)}
		case left < retrieving+placing+awaiting:
			share := 0.96 - 0.88*float64(left-retrieving-placing)/float64(awaiting)
			age = s.cfg.scaled(time.Duration(share * float64(s.cfg.Timings.ConfirmWindow)))
			fate = Fate{OfferAfter: min(s.cfg.Timings.Offer, time.Duration(float64(age)*s.cfg.Speed/2))}
		}
		at := now.Add(-age)
		if at.After(now.UTC().Truncate(day)) {
			s.buckets.intents.take(now)
		}
		fate.legsBy = now
		fate.legsDone = pick(d, []int{0, 1, 2, 2, 3, 3, 4, 5})
		s.agenda.plan(at, func(at time.Time) { s.fulfilment.open(at, w, payment, fate) })
	}
	for s.agenda.runDue(1<<20) == 0 {
	}
}

// finished returns the age and the fate of an intent that has ended.
func (s *shop) finished(d dice, i, n int) (time.Duration, Fate) {
	oldest := float64(9 * time.Hour)
	newest := float64(s.cfg.scaled(2 * time.Minute))
	share := math.Pow(float64(n-i)/float64(n), 1.5)
	age := time.Duration(max(newest, oldest*share) * (0.9 + 0.2*d.Float64()))
	fate := Fate{ConfirmAfter: time.Second * time.Duration(d.between(3, 40)), Purchase: d.chance(0.08)}
	switch {
	case i%6 == 4 && s.cfg.FailureShare > 0:
		fate.Failure, fate.WhilePlacing = randomFailure(d)
	case i%13 == 7: // nobody confirmed it: it expired
		fate.ConfirmAfter, fate.Purchase = 0, false
		age = max(age, s.cfg.window()*11/10)
	}
	return age, fate
}

// later returns a random time from 0.3 to 1.3 of a duration, at speed 1.
func (d dice) later(within time.Duration) time.Duration {
	return time.Duration((0.3 + d.Float64()) * float64(within))
}
