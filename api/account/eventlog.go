package account

import (
	"sort"

	"tillwatch/api"
)

// eventRecord is the store's own, changing view of a kept event. Its place is
// used again for a later one.
type eventRecord struct {
	ordinal    uint64 // how many events were known before it
	seq        int64
	created    instant
	received   instant
	id         api.ID
	source     api.ID
	kind       api.EventType
	sourceType api.SourceType
	product    api.Text
	origin     string
	raw        []byte
	earlier    uint32 // the event of the same source before it, counted from 1; it may no longer be kept
	epoch      uint32 // of the journal that gave its sequence number
	duplicates uint32
	status     api.ShipmentStatus // that it told of, as reads prove; "" while none does
	late       bool
	lined      bool // it stands in a timeline
}

// eventLog keeps the newest events whole, and of many older ones that they were
// here. An event in a timeline is known for as long as that holds it, too.
type eventLog struct {
	keep     int
	ring     blocks[eventRecord] // turns once it is full
	kept     map[api.ID]*eventRecord
	versions []uint64    // at which each of them last changed
	changed  uint64      // the newest of these versions
	next     int         // place in the ring
	total    uint64      // events ever
	bodies   int         // bytes of the bodies that are kept
	bare     uint64      // the ordinal up to which bodies were dropped
	births   []uint64    // a ring: the version at which each of the last events became known
	known    knownEvents // those that are kept no longer
}

const (
	birthsPerKept  = 4       // for each event that is kept, so many versions at which one became known are remembered
	mostKnown      = 1 << 17 // so many of the newest events are known at least
	mostBodies     = 8 << 20
	eventsPerBlock = 128
)

func newEventLog(keep int) eventLog {
	return eventLog{
		keep: keep, ring: newBlocks[eventRecord](eventsPerBlock), kept: map[api.ID]*eventRecord{},
		known: newKnownEvents(mostKnown),
	}
}

// add makes the record of a new event, for which the oldest one may have to go. It
// holds nothing but its ordinal.
func (l *eventLog) add(id api.ID, version uint64) *eventRecord {
	place, ordinal := l.next, l.total
	if l.next++; l.next == l.keep {
		l.next = 0
	}
	var r *eventRecord
	if len(l.versions) < l.keep {
		_, r = l.ring.add()
		l.versions = append(l.versions, version)
	} else {
		r = l.place(place)
		l.forget(r)
		l.versions[place] = version
	}
	if len(l.births) < l.keep*birthsPerKept {
		l.births = append(l.births, version)
	} else {
		l.births[ordinal%uint64(len(l.births))] = version
	}
	l.changed = version
	l.total++
	l.kept[id] = r
	r.ordinal = ordinal
	return r
}

func (l *eventLog) forget(r *eventRecord) {
	l.bodies -= len(r.raw)
	delete(l.kept, r.id)
	l.known.add(r.id)
}

func (l *eventLog) place(place int) *eventRecord { return l.ring.at(uint32(place) + 1) }

// of is the kept event of an ordinal; nil once it is dropped.
func (l *eventLog) of(ordinal uint64) *eventRecord {
	if ordinal >= l.total || l.total-ordinal > uint64(len(l.versions)) {
		return nil
	}
	return l.place(int(ordinal % uint64(l.keep)))
}

// at is the kept event that is counted so, from 1; nil once it is dropped.
func (l *eventLog) at(count uint32) *eventRecord {
	if count == 0 {
		return nil
	}
	return l.of(uint64(count) - 1)
}

// oldest is the ordinal of the oldest event that is kept.
func (l *eventLog) oldest() uint64 { return l.total - uint64(len(l.versions)) }

// since lists the ordinals of the kept events that changed after a version, the
// oldest event first.
func (l *eventLog) since(version uint64) []uint64 {
	if l.changed <= version {
		return nil
	}
	var changed []uint64
	place := 0
	if len(l.versions) == l.keep {
		place = l.next
	}
	for ordinal := l.oldest(); ordinal < l.total; ordinal++ {
		if l.versions[place] > version {
			changed = append(changed, ordinal)
		}
		if place++; place == l.keep {
			place = 0
		}
	}
	return changed
}

// bornAfter is the ordinal of the first event that became known after a version.
// Of a version very long ago it is a number from above.
func (l *eventLog) bornAfter(version uint64) uint64 {
	if version == 0 {
		return 0
	}
	n := len(l.births)
	newer := n - sort.Search(n, func(i int) bool {
		return l.births[(int(l.total%uint64(n))+i)%n] > version
	})
	return l.total - uint64(newer)
}

// touchEvent notes that a kept event has changed.
func (s *Store) touchEvent(r *eventRecord) {
	l := &s.events
	l.changed = s.stamp()
	l.versions[r.ordinal%uint64(l.keep)] = l.changed
}

// dropBodies drops the bodies of the oldest kept events while all together are
// too large: the relay still has them. What was published stays as it is.
func (l *eventLog) dropBodies() {
	for ; l.bodies > mostBodies && l.bare+1 < l.total; l.bare++ {
		if r := l.of(l.bare); r != nil {
			l.bodies -= len(r.raw)
			r.raw = nil
		}
	}
}

// eventsPerRoom is how many events are published in one piece of memory. As long
// as one of them is in use all are, with their bodies: it is few.
const eventsPerRoom = 16

// publishEvents copies events of these ordinals a batch at a time, so that
// writers never wait long. gone is how many of those from first on gave way
// meanwhile.
func (s *Store) publishEvents(ordinals []uint64, first uint64) (events []*Event, gone int) {
	if len(ordinals) == 0 {
		return nil, 0
	}
	events = make([]*Event, 0, len(ordinals))
	var rooms [][]Event
	inBatches(s, ordinals, func(most int) {
		for rooms = nil; most > 0; most -= eventsPerRoom {
			rooms = append(rooms, make([]Event, min(eventsPerRoom, most)))
		}
	}, func(ordinal uint64) {
		r := s.events.of(ordinal)
		if r == nil {
			if ordinal >= first {
				gone++
			}
			return
		}
		e := &rooms[0][0]
		if rooms[0] = rooms[0][1:]; len(rooms[0]) == 0 {
			rooms = rooms[1:]
		}
		s.fillEvent(e, r)
		events = append(events, e)
	})
	return events, gone
}

func (s *Store) fillEvent(e *Event, r *eventRecord) {
	*e = Event{
		Seq: r.seq, ID: r.id, Type: r.kind, SourceType: r.sourceType, SourceID: r.source, Product: r.product,
		CreatedAt: r.created.time(), Received: r.received.time(), Origin: r.origin,
		Duplicates: int(r.duplicates), Late: r.late, Status: r.status, Raw: r.raw, Version: s.events.versions[r.ordinal%uint64(s.events.keep)],
	}
}
