package account

import (
	"hash/maphash"
	"sort"
	"time"

	"tillwatch/api"
)

// eventRecord is the store's own place of a kept event.
type eventRecord struct {
	place     entry[*eventRecord]
	published *Event
	hash      uint64 // of its id
	ordinal   uint64 // how many events were known before it
	unnamed   uint32 // the kept event of the same source before it that lacks the product's name, counted from 1
	epoch     int    // of the journal that gave its sequence number
	dropped   bool
	lined     bool  // it stands in the timeline of its intent
	told      bool  // it stands in the timeline of its shipment's intent
	first     Event // what published begins with, so that both are one allocation
}

func (r *eventRecord) publish() *Event { return r.published }

// eventLog keeps the newest events whole, and of a million older ones that they
// were here, as far as their intents' timelines reach. What an older one told stands in the timeline of its intent.
type eventLog struct {
	keep   int
	kept   []*eventRecord // a ring once it is full
	bodies int            // bytes of the bodies that are kept
	bare   uint64         // the ordinal up to which bodies were dropped
	total  uint64         // events ever
	births []uint64       // a ring: the version at which each of the last events became known
	seed   maphash.Seed
	index  eventIndex          // of those that are kept, by their id
	room   []eventRecord       // for the next ones: one allocation for several
	older  knownEvents[uint64] // those that are no longer
	lined  knownEvents[uint32] // those that are no longer and stand in the timeline of their intent, as far as a part of the hash tells
}

const (
	birthsPerKept = 4       // for each event that is kept, so many versions at which one became known are remembered
	mostOlder     = 1 << 20 // so many events are known at least that are no longer kept
	mostBodies    = 8 << 20
)

func newEventLog(keep int) eventLog {
	return eventLog{keep: keep, seed: maphash.MakeSeed(), index: newEventIndex(keep), older: knownEvents[uint64]{most: mostOlder / 8}, lined: knownEvents[uint32]{most: mostOlder}}
}

// findEvent tells whether an event was here, and its record while it is kept.
func (s *Store) findEvent(id api.ID, source api.EventSource) (hash uint64, r *eventRecord, known bool) {
	l := &s.events
	hash = maphash.String(l.seed, string(id))
	if place := l.find(hash); place >= 0 {
		if r = l.kept[place]; r.published.ID != id {
			return hash, nil, false
		}
		return hash, r, true
	}
	if source.Type == api.SourceIntent && l.lined.has(hash) {
		if in := s.findIntent(source.ID); in != nil && s.remembers(in, id) {
			return hash, nil, true
		}
	}
	return hash, nil, l.older.has(hash)
}

// at is the kept event that is counted so, from 1; nil once it is dropped.
func (l *eventLog) at(count uint32) *eventRecord {
	if count == 0 || uint64(count) > l.total || l.total-uint64(count) >= uint64(len(l.kept)) {
		return nil
	}
	return l.kept[(uint64(count)-1)%uint64(l.keep)]
}

func (l *eventLog) add(hash uint64, r *eventRecord, version uint64) (dropped *eventRecord) {
	slot := int(l.total % uint64(l.keep))
	if len(l.kept) < l.keep {
		l.kept = append(l.kept, r)
	} else {
		dropped = l.kept[slot]
		l.forget(dropped)
		l.kept[slot] = r
	}
	if len(l.births) < l.keep*birthsPerKept {
		l.births = append(l.births, version)
	} else {
		l.births[l.total%uint64(len(l.births))] = version
	}
	r.ordinal, r.hash = l.total, hash
	l.total++
	l.index.add(hash, slot)
	l.bodies += len(r.published.Raw)
	return dropped
}

// dropBodies drops the bodies of the oldest kept events while all together are
// too large: the relay still has them. What was published stays as it is.
func (s *Store) dropBodies() {
	l := &s.events
	for ; l.bodies > mostBodies && l.bare+1 < l.total; l.bare++ {
		r := l.at(uint32(l.bare) + 1)
		if r == nil || len(r.published.Raw) == 0 {
			continue
		}
		l.bodies -= len(r.published.Raw)
		bare := &eventRecord{hash: r.hash, ordinal: r.ordinal, unnamed: r.unnamed, epoch: r.epoch, lined: r.lined, told: r.told, first: *r.published}
		bare.first.Raw = nil
		bare.published, bare.place.value = &bare.first, bare
		s.eventOrder.replace(&r.place, &bare.place)
		l.kept[l.bare%uint64(l.keep)] = bare
	}
}

// eventsPerRoom is how many records are made at once. As long as one of them is
// in use all are, with their bodies: it is few.
const eventsPerRoom = 16

func (l *eventLog) newRecord() *eventRecord {
	if len(l.room) == 0 {
		l.room = make([]eventRecord, eventsPerRoom)
	}
	r := &l.room[0]
	l.room = l.room[1:]
	return r
}

func (l *eventLog) forget(r *eventRecord) {
	r.dropped = true
	l.bodies -= len(r.published.Raw)
	l.index.remove(r.hash, int(r.ordinal%uint64(l.keep)))
	if r.lined {
		l.lined.add(r.hash)
	} else {
		l.older.add(r.hash)
	}
}

// skipped is how many events became known after a version and are no longer
// kept; of a version very long ago it is a number from below.
func (l *eventLog) skipped(since uint64) int {
	dropped := int(l.total) - len(l.kept)
	if since == 0 {
		return dropped
	}
	n := len(l.births)
	newer := n - sort.Search(n, func(i int) bool {
		return l.births[(int(l.total%uint64(n))+i)%n] > since
	})
	return max(0, newer-len(l.kept))
}

// deliverBatch bounds how many events are merged while readers wait.
const deliverBatch = 256

// ApplyEvents merges what a feed has delivered.
func (s *Store) ApplyEvents(batch []Delivery) {
	now := time.Now()
	for len(batch) > 0 {
		n := min(len(batch), deliverBatch)
		s.applyEvents(batch[:n], now)
		batch = batch[n:]
	}
}

func (s *Store) applyEvents(batch []Delivery, now time.Time) {
	s.mu.Lock()
	defer s.release()
	for i := range batch {
		s.applyEvent(&batch[i], now)
	}
	s.advance(batch[len(batch)-1].Seq)
}

// advance moves the place in the feed behind what was delivered: the feed tells
// its own state far less often.
func (s *Store) advance(seq int64) {
	if seq <= 0 || seq == s.feed.Cursor {
		return
	}
	s.stamp()
	s.feed.Cursor, s.feed.Head = seq, max(s.feed.Head, seq)
}

func (s *Store) applyEvent(d *Delivery, now time.Time) {
	if d.Received.After(s.lastEvent) {
		s.lastEvent = d.Received
	}
	hash, r, known := s.findEvent(d.Event.ID, d.Event.Source)
	if known {
		s.applyAgain(r, d)
		return
	}
	s.counters.Received++
	s.counters.Duplicate += d.Duplicates
	if d.Origin == "backfill" {
		s.counters.Backfilled++
	}
	r = s.events.newRecord()
	r.epoch, r.first = s.epoch, Event{
		Seq: d.Seq, ID: d.Event.ID, Type: d.Event.Type,
		SourceType: d.Event.Source.Type, SourceID: d.Event.Source.ID,
		CreatedAt: d.Event.CreatedAt, Received: d.Received,
		Origin: d.Origin, Duplicates: d.Duplicates, Raw: d.Event.Raw,
	}
	r.place.value, r.published = r, &r.first
	version := s.stamp()
	r.first.Version = version
	s.keep(r, hash)
	s.mergeSource(r, &d.Event, now)
}

// keep takes an event into the log, for which the oldest one may give way.
func (s *Store) keep(r *eventRecord, hash uint64) {
	if dropped := s.events.add(hash, r, r.first.Version); dropped != nil {
		s.eventOrder.remove(&dropped.place)
		s.forgetful = s.forgetful || s.events.lined.forgot() || s.events.older.forgot()
	}
	s.eventOrder.touch(&r.place, r.first.Version)
	s.dropBodies()
}

// mergeSource merges a new event into what it speaks of. A source of a type that
// is not known has nothing to merge into and nothing to read.
func (s *Store) mergeSource(r *eventRecord, event *api.Event, now time.Time) {
	e := &r.first
	switch e.SourceType {
	case api.SourceIntent:
		if s.findIntent(e.SourceID) == nil && eventBit(e.Type) == 0 {
			return // an event of an unknown type is kept, and nothing is read for it
		}
		in := s.intent(e.SourceID)
		e.Late = e.precedes(in.lastEvent.time())
		if e.Product = s.productOf(in); e.Product == "" {
			r.unnamed, in.unnamed = in.unnamed, uint32(r.ordinal)+1
		}
		r.lined = true
		s.mergeEvent(in, e, now)
	case api.SourceShipment:
		sh := s.shipment(e.SourceID)
		e.Late = e.precedes(sh.lastEvent)
		if e.Product = sh.product; e.Product == "" {
			r.unnamed, sh.unnamed = sh.unnamed, uint32(r.ordinal)+1
		}
		s.mergeShipmentEvent(sh, r, now)
	case api.SourceProduct:
		if p := s.products[e.SourceID]; p != nil {
			e.Late = e.precedes(p.LastEvent)
		}
		e.Product = s.mergeProduct(event).Product.Name
	}
	if e.Late {
		s.counters.Late++
	}
}

// precedes reports whether the event was created before t, as far as it tells.
func (e *Event) precedes(t time.Time) bool {
	return !e.CreatedAt.IsZero() && e.CreatedAt.Before(t)
}

// applyAgain notes that an event was delivered that is known. The same place in
// the same journal is only this client's own second look; another journal has
// other places for the same events.
func (s *Store) applyAgain(r *eventRecord, d *Delivery) {
	if r == nil {
		s.counters.Duplicate++
		s.stamp()
		return
	}
	e := *r.published
	switch {
	case r.epoch != s.epoch:
		r.epoch = s.epoch
	case d.Seq != e.Seq:
		s.counters.Duplicate++
		e.Duplicates++
		s.publishEvent(r, e)
		return
	}
	if d.Seq == e.Seq && d.Duplicates <= e.Duplicates {
		return
	}
	s.counters.Duplicate += max(0, d.Duplicates-e.Duplicates)
	e.Seq, e.Duplicates = d.Seq, max(d.Duplicates, e.Duplicates)
	s.publishEvent(r, e)
}

func (s *Store) publishEvent(r *eventRecord, e Event) {
	e.Version = s.stamp()
	r.published = &e
	s.eventOrder.touch(&r.place, e.Version)
}

// nameEvents gives a product's name to the kept events of a source that lack it.
func (s *Store) nameEvents(unnamed uint32, product api.Text) {
	for r := s.events.at(unnamed); r != nil; r = s.events.at(r.unnamed) {
		e := *r.published
		e.Product = product
		s.publishEvent(r, e)
	}
}
