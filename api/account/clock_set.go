package account

import "time"

// setBack counts anew what a clock that was ahead, and has been set back to now, left out.
func (s *Store) setBack(now time.Time) {
	s.update(func(time.Time) {
		s.events.newest = earlier(s.events.newest, utc(now))
		day := newDayCounter()
		for _, in := range s.intents.byID {
			if !in.basis.known.IsZero() {
				day.add(in.basis.known)
			}
		}
		s.intents.day.dayCounter = day
	})
}
