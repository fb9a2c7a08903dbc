package dashboard

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// wave says yes to what has just come up, some of it together, and to some of it
// somebody else does too.
func (s *storm) wave(n int, names []string) {
	together := 0
	if n%2 == 1 {
		together = len(names) - 4
	}
	for _, name := range names[together:] {
		o := s.orders[name]
		if s.dice.IntN(5) == 0 {
			o.rivaled = true
			s.rivals.Go(func() { s.compete(o) })
		}
		s.sayYes(name, o)
	}
	if together > 0 {
		s.sayYesToAll(names[:together])
	}
	s.pass(time.Duration(s.dice.IntN(20))*time.Second, nil)
}

// compete confirms an intent at another machine.
func (s *storm) compete(o *stormOrder) {
	for range 20 {
		in, err := s.away.Intent(s.ctx, o.id)
		if err != nil {
			continue
		}
		if p, err := confirm.Propose(&in, s.away.Environment(), api.ConfirmWindow); err == nil {
			s.rival.Confirm(s.ctx, p, nil)
		}
		return
	}
}

// expiriesAreRead reports whether no confirm window has ended so lately that nobody
// can have read what came of it: a read may fail several times.
func (s *storm) expiriesAreRead() bool {
	for _, o := range s.orders {
		if ended := time.Since(o.made) - api.ConfirmWindow; ended >= 0 && ended < time.Minute {
			return false
		}
	}
	return true
}
