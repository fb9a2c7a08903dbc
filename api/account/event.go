package account

import (
	"time"

	"tillwatch/api"
)

// deliverBatch bounds how many events are merged while readers wait.
const deliverBatch = 256

// ApplyEvents merges what a feed has delivered. It was learnt when it arrived, by
// the clock of this process, however long others keep the store busy.
func (s *Store) ApplyEvents(batch []Delivery, arrived time.Time) {
	for len(batch) > 0 {
		n := min(len(batch), deliverBatch)
		s.applyEvents(batch[:n], arrived)
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
	s.hears(d.Received)
	event := &d.Event
	if r, known := s.findEvent(event.ID, &event.Source); known {
		s.applyAgain(r, d)
		return
	}
	s.counters.Received++
	s.counters.Duplicate += d.Duplicates
	if d.Origin == "backfill" {
		s.counters.Backfilled++
	}
	r := s.events.add(event.ID, s.stamp())
	*r = eventRecord{
		ordinal: r.ordinal, seq: d.Seq, epoch: uint32(s.epoch),
		created: instantOf(event.CreatedAt), received: instantOf(d.Received),
		id: event.ID, source: event.Source.ID, kind: event.Type, sourceType: event.Source.Type,
		origin: d.Origin, duplicates: uint32(max(d.Duplicates, 0)), raw: event.Raw,
	}
	s.events.bodies += len(r.raw)
	s.events.dropBodies()
	s.mergeSource(r, event, now)
}

// findEvent reports whether an event was here before, and finds its record while it
// is kept.
func (s *Store) findEvent(id api.ID, source *api.EventSource) (r *eventRecord, known bool) {
	if r = s.events.kept[id]; r != nil {
		return r, true
	}
	if s.events.known.has(id) {
		return nil, true
	}
	in := s.intentOf(source)
	return nil, in != nil && in.remembers(id)
}

// intentOf is the intent in whose timeline events of a source stand; nil for none.
func (s *Store) intentOf(source *api.EventSource) *intentRecord {
	switch source.Type {
	case api.SourceIntent:
		return s.findIntent(source.ID)
	case api.SourceShipment:
		if r := s.shipments[source.ID]; r != nil {
			return r.intent
		}
	}
	return nil
}

// mergeSource merges a new event into what it speaks of. A source of a type that
// is not known has nothing to merge into and nothing to read.
func (s *Store) mergeSource(r *eventRecord, event *api.Event, now time.Time) {
	switch r.sourceType {
	case api.SourceIntent:
		in := s.findIntent(r.source)
		if in == nil {
			if eventBit(r.kind) == 0 {
				return // an event of an unknown type is kept, and nothing is read for it
			}
			in = s.newIntent(r.source)
		}
		r.late = r.precedes(in.lastEvent)
		r.product = in.product
		r.earlier, in.latest = in.latest, uint32(r.ordinal)+1
		s.mergeEvent(in, r, now)
	case api.SourceShipment:
		sh := s.shipment(r.source)
		r.late = r.precedes(sh.lastEvent)
		r.product = sh.product
		r.earlier, sh.latest = sh.latest, uint32(r.ordinal)+1
		s.mergeShipmentEvent(sh, r, now)
	case api.SourceProduct:
		if p := s.products[r.source]; p != nil {
			r.late = r.precedes(s.clock.instant(p.LastEvent))
		}
		r.product = s.mergeProduct(event).Product.Name
	}
	if r.late {
		s.counters.Late++
	}
}

// precedes reports whether the event was created before t, as far as it tells.
func (r *eventRecord) precedes(t instant) bool { return r.created != 0 && t != 0 && r.created < t }

// applyAgain notes that an event was delivered that is known. The same place in
// the same journal is only this client's own second look; another journal has
// other places for the same events.
func (s *Store) applyAgain(r *eventRecord, d *Delivery) {
	if r == nil {
		s.counters.Duplicate++
		s.stamp()
		return
	}
	told := uint32(max(d.Duplicates, 0))
	switch {
	case r.epoch != uint32(s.epoch):
		r.epoch = uint32(s.epoch)
	case d.Seq != r.seq:
		s.counters.Duplicate++
		r.duplicates++
		s.touchEvent(r)
		return
	}
	if d.Seq == r.seq && told <= r.duplicates {
		return
	}
	if told > r.duplicates {
		s.counters.Duplicate += int(told - r.duplicates)
		r.duplicates = told
	}
	r.seq = d.Seq
	s.touchEvent(r)
}

// nameEvents gives a product's name to the kept events of a source, of which the
// latest is known.
func (s *Store) nameEvents(latest uint32, product api.Text) {
	for r := s.events.at(latest); r != nil; r = s.events.at(r.earlier) {
		r.product = product
		s.touchEvent(r)
	}
}
