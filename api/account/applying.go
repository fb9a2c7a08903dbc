package account

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
)

// ApplyRead merges the answer to a read of an intent; with [ByConfirm], the answer to a confirm. sent is when the
// request was sent.
//
// A read that was sent before one that is already merged changes nothing. States only move forward.
func (s *Store) ApplyRead(in api.Intent, sent time.Time, how Learnt) {
	s.update(func(now time.Time) {
		if how != ByConfirm {
			s.intents.reads.answered(now)
		}
		s.applyRead(&in, sent, now, how)
	})
}

// ApplyList is [Store.ApplyRead] for a page of a list of intents, which counts as one read. It reports whether the
// page names an unknown intent.
func (s *Store) ApplyList(page []api.Intent, sent time.Time) (news bool) {
	s.update(func(now time.Time) {
		s.intents.reads.answered(now)
		for i := range page {
			in := &page[i]
			if s.intents.get(in.ID) == nil {
				if in.State.Terminal() && s.intents.past.has(in.ID) {
					continue // it ended long ago and is no longer kept
				}
				news = true
			}
			s.applyRead(in, sent, now, ByRead)
		}
	})
	return news
}

func (s *Store) applyRead(read *api.Intent, sent, now time.Time, how Learnt) {
	s.confirms.read(read, sent)
	s.follow(s.intents.read(read, sent, now, how), now)
	if in := s.intents.get(read.ID); in != nil {
		s.confirms.compare(in)
		s.alerts.judgeConfirms(s.confirms.list, now)
	}
	s.noteConfirms(read.ID)
}

// follow carries the outcome of a read to the other parts.
func (s *Store) follow(o outcome, now time.Time) {
	if o.moved {
		s.missing.expect(o.in, o.from, now)
	}
	if o.named {
		s.links.spreadProduct(o.in)
	}
	s.alerts.judgeIntent(o.in, now)
}

// ApplyMissing records that a read of an intent, sent at sent, was answered 404.
func (s *Store) ApplyMissing(id api.ID, sent time.Time) {
	s.update(func(now time.Time) {
		s.intents.reads.answered(now)
		if gone := s.intents.notFound(id, sent, now); gone != nil {
			s.letGo(gone)
		}
	})
}

// ApplyShipments merges the answer to a read of shipments that was sent at sent. The later updatedAt wins, then
// the later read. It reports whether anything was new.
func (s *Store) ApplyShipments(list []api.Shipment, sent time.Time) (news bool) {
	s.update(func(now time.Time) {
		s.health.shipmentsRead = true
		s.intents.reads.answered(now)
		for i := range list {
			news = s.applyShipment(&list[i], sent, now) || news
		}
	})
	return news
}

func (s *Store) applyShipment(read *api.Shipment, sent, now time.Time) (news bool) {
	if s.bygone(read) {
		return false
	}
	sh, before, taken := s.shipments.read(read, sent)
	if !taken {
		return false
	}
	if news = before.differs(read); news {
		s.missing.expectOfShipment(&before, read, now)
	}
	if before.Status() != read.Status {
		s.intents.reads.StateChanges++
	}
	s.links.link(sh, read.IntentID)
	s.events.explain(sh)
	return news
}

// bygone reports whether a shipment or its intent was let go. A busy account lets an intent go while its shipment is
// still on its way, and the shipment must not bring the intent back as one of which nothing is known. bygone also drops
// the shipment if nothing had named its intent before.
func (s *Store) bygone(read *api.Shipment) bool {
	sh := s.shipments.get(read.ID)
	switch {
	case s.shipments.letGo(read.ID):
	case s.intents.get(read.IntentID) != nil || !s.intents.past.has(read.IntentID), sh != nil && sh.IntentID != "":
		return false
	case sh != nil:
		s.letGoShipment(sh.ID)
	}
	return true
}

// ApplyIntentShipments is [Store.ApplyShipments] for the shipments of one intent.
func (s *Store) ApplyIntentShipments(id api.ID, list []api.Shipment, sent time.Time) {
	s.ApplyShipments(list, sent)
	s.update(func(time.Time) {
		if s.intents.get(id) != nil {
			s.intents.edit(id).basis.listed = true
		}
	})
}

// ApplyMissingShipment records that a read of a shipment, sent at sent, was answered 404.
func (s *Store) ApplyMissingShipment(id api.ID, sent time.Time) {
	s.update(func(time.Time) {
		if !s.shipments.letGo(id) {
			s.shipments.notFound(id, sent)
		}
	})
}

// deliverBatch bounds how many events are merged before other users of the store get their turn.
const deliverBatch = 256

// ApplyEvents merges the events that a feed delivered. They count as learnt when they arrived, by this process's
// clock, however long they waited for the store.
func (s *Store) ApplyEvents(deliveries []Delivery, arrived time.Time) {
	for batch := range slices.Chunk(deliveries, deliverBatch) {
		s.applyEvents(batch, arrived)
	}
}

func (s *Store) applyEvents(batch []Delivery, now time.Time) {
	s.mu.Lock()
	defer s.release()
	s.watchedSince(now)
	begins := s.events.Received == 0
	for i := range batch {
		d := &batch[i]
		s.feed.hears(d.Received)
		// The relay's clock may be ahead, or this machine's may have been.
		s.events.newest = earlier(later(s.events.newest, d.Received), utc(now))
		if e := s.events.take(d, s.feed.epoch); e != nil {
			if begins { // the relay has listened since its first event
				s.watchedSince(cmp.Or(e.CreatedAt, e.Received))
			}
			s.applyEvent(e, &d.Event, now)
		}
	}
	// The feed reports its own state far less often than events.
	if newest := &batch[len(batch)-1]; newest.Seq > 0 && newest.Seq != s.feed.Cursor {
		s.news.stamp()
		s.feed.Cursor, s.feed.Last, s.feed.Head = newest.Seq, newest.ID, max(s.feed.Head, newest.Seq)
	}
}

// applyEvent merges a new event into its source. An event of an unknown source type is only kept.
func (s *Store) applyEvent(e *Event, event *api.Event, now time.Time) {
	fresh := s.feed.fresh(e)
	switch e.SourceType {
	case api.SourceIntent:
		if s.intents.get(e.SourceID) == nil && eventBit(e.Type) == 0 {
			return // an event of an unknown type is only kept
		}
		in := s.intents.edit(e.SourceID)
		e.Late, e.Product = e.precedes(in.basis.lastEvent), in.Product
		s.intents.event(in, e, fresh, now)
		s.missing.arrived(in.ID, e.Type)
		s.alerts.judgeIntent(in, now)
	case api.SourceShipment:
		if s.shipments.letGo(e.SourceID) {
			return // likewise
		}
		sh := s.shipments.edit(e.SourceID)
		e.Late, e.Product = e.precedes(sh.lastEvent), sh.Product
		if s.shipments.event(sh, e, fresh) {
			s.missing.arrivedOfShipment(sh.ID)
		}
		s.events.explain(sh)
		if sh.IntentID != "" {
			s.links.line(s.intents.edit(sh.IntentID), e, now)
		}
	case api.SourceProduct:
		e.Product, e.Late = s.products.event(event)
	}
	if e.Late {
		s.events.Late++
	}
}
