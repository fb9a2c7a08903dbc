package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// deliverBatch bounds how many events are merged while readers wait.
const deliverBatch = 256

// ApplyEvents merges what a feed has delivered. It was learnt when it arrived, by
// the clock of this process, however long others keep the store busy.
func (s *Store) ApplyEvents(deliveries []Delivery, arrived time.Time) {
	for batch := range slices.Chunk(deliveries, deliverBatch) {
		s.applyEvents(batch, arrived)
	}
}

func (s *Store) applyEvents(batch []Delivery, now time.Time) {
	s.mu.Lock()
	defer s.release()
	for i := range batch {
		s.applyEvent(&batch[i], now)
	}
	// The feed tells its own state far less often.
	if seq := batch[len(batch)-1].Seq; seq > 0 && seq != s.feed.Cursor {
		s.stamp()
		s.feed.Cursor, s.feed.Head = seq, max(s.feed.Head, seq)
	}
}

func (s *Store) applyEvent(d *Delivery, now time.Time) {
	s.lastEvent = later(s.lastEvent, d.Received)
	s.feed.hears(d.Received)
	event := &d.Event
	if e := s.events.byID[event.ID]; e != nil {
		s.applyAgain(e, d)
		return
	}
	if s.isKnown(event) {
		s.counters.Duplicate++
		s.stamp()
		return
	}
	s.counters.Received++
	s.counters.Duplicate += d.Duplicates
	if d.Origin == "backfill" {
		s.counters.Backfilled++
	}
	e := &Event{
		Seq: d.Seq, ID: event.ID, Type: event.Type, SourceType: event.Source.Type, SourceID: event.Source.ID,
		CreatedAt: plausible(event.CreatedAt), Received: plausible(d.Received), Origin: d.Origin,
		Duplicates: max(d.Duplicates, 0), Raw: event.Raw, epoch: s.feed.epoch,
	}
	s.events.add(e, s.stamp())
	s.mergeSource(e, event, now)
}

// isKnown reports whether an event that is not kept was here before.
func (s *Store) isKnown(event *api.Event) bool {
	if s.events.known.has(event.ID) {
		return true
	}
	in := s.intentOf(&event.Source)
	return in != nil && in.remembers(event.ID)
}

// intentOf is the intent in whose timeline events of a source stand; nil for none.
func (s *Store) intentOf(source *api.EventSource) *IntentDetail {
	switch source.Type {
	case api.SourceIntent:
		return s.intents.get(source.ID)
	case api.SourceShipment:
		if sh := s.shipments.get(source.ID); sh != nil {
			return s.intents.get(sh.IntentID)
		}
	}
	return nil
}

// mergeSource merges a new event into what it speaks of. A source of a type that
// is not known has nothing to merge into and nothing to read.
func (s *Store) mergeSource(e *Event, event *api.Event, now time.Time) {
	switch e.SourceType {
	case api.SourceIntent:
		if s.intents.get(e.SourceID) == nil && eventBit(e.Type) == 0 {
			return // an event of an unknown type is kept, and nothing is read for it
		}
		in := s.editIntent(e.SourceID)
		e.Late, e.Product = e.precedes(in.basis.lastEvent), in.Product
		s.mergeEvent(in, e, now)
	case api.SourceShipment:
		sh := s.editShipment(e.SourceID)
		e.Late, e.Product = e.precedes(sh.lastEvent), sh.Product
		s.mergeShipmentEvent(sh, e, now)
	case api.SourceProduct:
		if p, known := s.products.of(e.SourceID); known {
			e.Late = e.precedes(p.LastEvent)
		}
		e.Product = s.products.merge(event).Product.Name
	}
	if e.Late {
		s.counters.Late++
	}
}

// precedes reports whether the event was created before t, as far as it tells.
func (e *Event) precedes(t time.Time) bool { return !e.CreatedAt.IsZero() && e.CreatedAt.Before(t) }

// applyAgain notes that an event was delivered that is kept. The same place in
// the same journal is only this client's own second look; another journal has
// other places for the same events.
func (s *Store) applyAgain(e *Event, d *Delivery) {
	told := max(d.Duplicates, 0)
	switch {
	case e.epoch == s.feed.epoch && d.Seq != e.Seq:
		s.counters.Duplicate++
		s.events.edit(e, s.stamp()).Duplicates++
	case e.epoch != s.feed.epoch || told > e.Duplicates:
		e = s.events.edit(e, s.stamp())
		s.counters.Duplicate += max(0, told-e.Duplicates)
		e.epoch, e.Seq, e.Duplicates = s.feed.epoch, d.Seq, max(e.Duplicates, told)
	}
}
