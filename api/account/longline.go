package account

import (
	"math/bits"

	"tillwatch/api"
)

// longLine is how many moments make a timeline in which an event is not looked for
// from one moment to the next.
const longLine = 16

// eventPlaces finds the events of a long timeline: the numbers of their moments, in
// open addressing by what tells their ids. It is made when an event is first looked
// for there, which is rare: one that comes again long after.
type eventPlaces struct {
	slots []uint32 // 0 is free
	used  int
}

// remembers reports whether the timeline holds an event.
func (s *Store) remembers(r *intentRecord, id api.ID) bool {
	if r.moments < longLine {
		for at := r.line; at != 0; {
			kept := s.moments.at(at)
			if s.isAt(r, kept, id) {
				return true
			}
			at = kept.earlier
		}
		return false
	}
	hash := s.events.hash(id)
	if suffix, isDerived := s.suffixOf(id, r); isDerived {
		hash = s.events.hashOf(suffix)
	}
	places := s.placesOf(r)
	for at := places.home(hash); places.slots[at] != 0; at = places.next(at) {
		if s.isAt(r, s.moments.at(places.slots[at]), id) {
			return true
		}
	}
	return false
}

// isAt reports whether a moment is that of an event.
func (s *Store) isAt(r *intentRecord, kept *keptMoment, id api.ID) bool {
	m := kept.moment()
	return m.kind.how() == ByEvent && s.isEvent(r, &m, id)
}

// hashAt is the hash of what tells the id of the event of a moment.
func (s *Store) hashAt(r *intentRecord, number uint32) uint64 {
	m := s.moments.at(number).moment()
	if m.kind&derived != 0 {
		return s.events.hashOf(s.ends.text(m.what))
	}
	if suffix, owner, owned := s.eventIDs.id(m.what); owned && owner == itself {
		return s.events.hashOf(suffix)
	}
	return s.events.hash(s.keptID(r, &m))
}

// placesOf finds or makes the places of a timeline.
func (s *Store) placesOf(r *intentRecord) *eventPlaces {
	p := s.long[r]
	if p == nil {
		p = &eventPlaces{slots: make([]uint32, 2*longLine)}
		s.long[r] = p
		for at := r.line; at != 0; {
			kept := s.moments.at(at)
			if momentKind(kept.low).how() == ByEvent {
				s.addPlace(r, p, at)
			}
			at = kept.earlier
		}
	}
	return p
}

func (s *Store) addPlace(r *intentRecord, p *eventPlaces, number uint32) {
	if p.used >= len(p.slots)-len(p.slots)/3 {
		old := p.slots
		p.slots, p.used = make([]uint32, 2*len(old)), 0
		for _, number := range old {
			if number != 0 {
				s.addPlace(r, p, number)
			}
		}
	}
	at := p.home(s.hashAt(r, number))
	for p.slots[at] != 0 {
		at = p.next(at)
	}
	p.slots[at] = number
	p.used++
}

// removePlace takes out the place of a moment that is still what it was, and
// closes the hole.
func (s *Store) removePlace(r *intentRecord, p *eventPlaces, number uint32) {
	hole := p.home(s.hashAt(r, number))
	for p.slots[hole] != number {
		if p.slots[hole] == 0 {
			return
		}
		hole = p.next(hole)
	}
	for at := p.next(hole); p.slots[at] != 0; at = p.next(at) {
		if home := p.home(s.hashAt(r, p.slots[at])); p.distance(home, at) >= p.distance(hole, at) {
			p.slots[hole], hole = p.slots[at], at
		}
	}
	p.slots[hole] = 0
	p.used--
}

// home is where a hash belongs.
func (p *eventPlaces) home(hash uint64) int {
	high, _ := bits.Mul64(hash*0x9e3779b97f4a7c15, uint64(len(p.slots)))
	return int(high)
}

func (p *eventPlaces) next(at int) int {
	if at++; at == len(p.slots) {
		return 0
	}
	return at
}

// distance is how far it is from one slot to another.
func (p *eventPlaces) distance(from, to int) int {
	if to < from {
		to += len(p.slots)
	}
	return to - from
}
