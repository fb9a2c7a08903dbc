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
	ordinal   uint64 // how many events were known before it
	epoch     int    // of the journal that gave its sequence number
	dropped   bool
	first     Event // what published begins with, so that both are one allocation
}

func (r *eventRecord) publish() *Event { return r.published }

// eventLog keeps the newest events, and of older ones that they were here.
type eventLog struct {
	keep   int
	kept   []*eventRecord // a ring once it is full
	total  uint64         // events ever
	births []uint64       // a ring: the version at which each of the last events became known
	seed   maphash.Seed
	seen   map[uint64]*eventRecord // by the id's hash; nil once an event is dropped
	older  map[uint64]*eventRecord // what seen was before it grew too large
}

// For each event that is kept, so many ids are remembered as seen, and so many
// versions at which an event became known.
const (
	rememberedPerKept = 16
	birthsPerKept     = 4
)

// find tells whether an event was here, and its record while it is kept.
func (l *eventLog) find(id api.ID) (hash uint64, r *eventRecord, known bool) {
	hash = maphash.String(l.seed, string(id))
	if r, known = l.seen[hash]; !known {
		r, known = l.older[hash]
	}
	if known && r != nil && r.published.ID != id {
		return hash, nil, false
	}
	return hash, r, known
}

func (l *eventLog) add(hash uint64, r *eventRecord, version uint64) (dropped *eventRecord) {
	slot := int(l.total % uint64(l.keep))
	if len(l.kept) < l.keep {
		l.kept = append(l.kept, r)
	} else {
		dropped = l.kept[slot]
		l.kept[slot] = r
		l.forget(dropped)
	}
	if len(l.births) < l.keep*birthsPerKept {
		l.births = append(l.births, version)
	} else {
		l.births[l.total%uint64(len(l.births))] = version
	}
	r.ordinal = l.total
	l.total++
	if len(l.seen) >= l.keep*rememberedPerKept {
		l.older, l.seen = l.seen, make(map[uint64]*eventRecord, len(l.seen))
	}
	l.seen[hash] = r
	return dropped
}

func (l *eventLog) forget(r *eventRecord) {
	r.dropped = true
	hash := maphash.String(l.seed, string(r.published.ID))
	if l.seen[hash] == r {
		l.seen[hash] = nil
	} else if l.older[hash] == r {
		l.older[hash] = nil
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
	hash, r, known := s.events.find(d.Event.ID)
	if known {
		s.applyAgain(r, d)
		return
	}
	s.counters.Received++
	s.counters.Duplicate += d.Duplicates
	if d.Origin == "backfill" {
		s.counters.Backfilled++
	}
	r = &eventRecord{epoch: s.epoch, first: Event{
		Seq: d.Seq, ID: d.Event.ID, Type: d.Event.Type,
		SourceType: d.Event.Source.Type, SourceID: d.Event.Source.ID,
		CreatedAt: d.Event.CreatedAt, Received: d.Received,
		Origin: d.Origin, Duplicates: d.Duplicates, Raw: d.Event.Raw,
	}}
	r.place.value, r.published = r, &r.first
	version := s.stamp()
	r.first.Version = version
	if dropped := s.events.add(hash, r, version); dropped != nil {
		s.eventOrder.remove(&dropped.place)
	}
	s.eventOrder.touch(&r.place, version)
	s.mergeSource(r, &d.Event, now)
}

// mergeSource merges a new event into what it speaks of. A source of a type that
// is not known has nothing to merge into and nothing to read.
func (s *Store) mergeSource(r *eventRecord, event *api.Event, now time.Time) {
	e := &r.first
	switch e.SourceType {
	case api.SourceIntent:
		if s.intents[e.SourceID] == nil && eventBit(e.Type) == 0 {
			return // an event of an unknown type is kept, and nothing is read for it
		}
		in := s.intent(e.SourceID)
		e.Late = e.precedes(in.lastEvent)
		if e.Product = in.now.Product; e.Product == "" {
			in.events = append(in.events, r)
		}
		s.mergeEvent(in, e, now)
	case api.SourceShipment:
		sh := s.shipment(e.SourceID)
		e.Late = e.precedes(sh.lastEvent)
		if e.Product = sh.now.Product; e.Product == "" {
			sh.events = append(sh.events, r)
		}
		s.mergeShipmentEvent(sh, e)
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

func (s *Store) nameEvents(records []*eventRecord, product api.Text) {
	for _, r := range records {
		if r.dropped {
			continue
		}
		e := *r.published
		e.Product = product
		s.publishEvent(r, e)
	}
}
