package account

import "time"

// setBack moves to now whatever lies in the future because the clock was ahead and has been set back. Otherwise newer
// facts would lose against it until then.
func (s *Store) setBack(now time.Time) {
	future := func(t time.Time) bool { return t.Round(0).After(now.Round(0)) }
	s.update(func(time.Time) {
		s.events.newest = earlier(s.events.newest, utc(now))
		day := newDayCounter()
		for _, in := range s.intents.byID {
			if !in.basis.known.IsZero() {
				day.add(in.basis.known)
			}
			if future(in.basis.newest) {
				in = s.intents.edit(in.ID)
				in.basis.newest, in.ReadAt = now, earlier(in.ReadAt, now)
			}
		}
		s.intents.day.dayCounter = day
		for _, sh := range s.shipments.open() {
			if future(sh.newest) {
				sh = s.shipments.edit(sh.ID)
				sh.newest, sh.ReadAt = now, earlier(sh.ReadAt, now)
			}
		}
	})
}
