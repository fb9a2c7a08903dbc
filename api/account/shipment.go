package account

import (
	"cmp"
	"strings"
	"time"

	"tillwatch/api"
)

// shipmentRecord is the store's own view of a shipment.
type shipmentRecord struct {
	id        api.ID
	intent    *intentRecord      // nil while not known
	answer    *api.Shipment      // to the newest read that counts; nil when never read
	status    api.ShipmentStatus // of the newest read; "" when never read
	version   uint64
	updated   instant // updatedAt of the newest read
	readAt    instant
	newest    instant // when the newest read was sent
	lastEvent instant
	number    uint32
	product   api.Text
	sibling   uint32 // the shipment of the same intent that became known before it
	latest    uint32 // of its events, counted from 1; it may no longer be kept
	told      uint8  // events that came since the newest read
	missing   uint8  // reads in a row that did not find it
	certainty Certainty
	gone      bool // the service answered 404 to the last read
}

const shipmentsPerBlock = 256

func (s *Store) publishShipment(r *shipmentRecord) *Shipment {
	sh := &Shipment{}
	s.fillShipment(sh, r)
	return sh
}

// fillShipment copies what is known.
func (s *Store) fillShipment(sh *Shipment, r *shipmentRecord) {
	*sh = Shipment{
		ID: r.id, Product: r.product, Certainty: r.certainty, ReadAt: s.clock.measured(r.readAt),
		Latest: r.answer, Missing: r.gone, Version: r.version,
	}
	if r.intent != nil {
		sh.IntentID = r.intent.id
	}
}

func (s *Store) shipment(id api.ID) *shipmentRecord {
	if r := s.shipments[id]; r != nil {
		return r
	}
	id = api.ScrubID(strings.Clone(string(id))) // it may be a part of an event's body
	number, r := s.shipmentBlocks.add()
	r.id, r.number = id, number
	s.shipments[id] = r
	s.shipmentCounts[""]++
	s.touchShipment(r)
	return r
}

func (s *Store) touchShipment(r *shipmentRecord) {
	r.version = s.stamp()
	s.shipmentTouches.add(r.number, r.version)
	s.notice(notice{shipment: r})
}

// ApplyShipments merges the answer to one read of shipments that was sent at
// sent. A shipment is as new as its updatedAt, and of equal ones the later read
// wins. It reports whether there was anything new.
func (s *Store) ApplyShipments(list []api.Shipment, sent time.Time) (news bool) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	s.reads.Total++
	s.lastRead = now
	for i := range list {
		news = s.mergeShipment(&list[i], sent) || news
	}
	return news
}

func (s *Store) mergeShipment(sh *api.Shipment, sent time.Time) (news bool) {
	r := s.shipment(sh.ID)
	updated, at := s.clock.instant(sh.UpdatedAt), s.clock.instant(sent)
	if r.answer != nil {
		if updated < r.updated && updated != 0 {
			r.newest = max(r.newest, at) // the service itself is behind what it told before
			return false
		}
		if updated <= r.updated && at < r.newest {
			return false
		}
	}
	news = r.answer == nil || updated != r.updated || sh.Status != r.status
	if news {
		s.expectParcelEvents(r, sh, time.Now())
	}
	was, is := r.status, sh.Status
	if was != is {
		s.shipmentCounts[was]--
		if s.shipmentCounts[was] == 0 {
			delete(s.shipmentCounts, was)
		}
		s.shipmentCounts[is]++
		s.reads.StateChanges++
	}
	held := *sh
	r.newest, r.missing, r.gone = at, 0, false
	r.answer, r.status, r.updated, r.readAt, r.certainty = &held, is, updated, at, Verified
	s.parcels.put(r, len(held.Raw))
	s.link(r, sh.IntentID)
	s.tellNews(r)
	s.touchShipment(r)
	return news
}

// ApplyIntentShipments is [Store.ApplyShipments] for the list of one intent's
// shipments.
func (s *Store) ApplyIntentShipments(id api.ID, list []api.Shipment, sent time.Time) {
	s.ApplyShipments(list, sent)
	s.mu.Lock()
	defer s.release()
	r := s.intent(id)
	r.listed = true
	s.touch(r)
}

// ApplyMissingShipment notes that a read did not find the shipment.
func (s *Store) ApplyMissingShipment(id api.ID, sent time.Time) {
	s.mu.Lock()
	defer s.release()
	s.stamp()
	r := s.shipment(id)
	at := s.clock.instant(sent)
	if at < r.newest {
		return
	}
	r.newest, r.gone = at, true
	r.missing = min(r.missing+1, mostInARow)
	s.touchShipment(r)
}

// link ties a shipment to its intent, which becomes known by it.
func (s *Store) link(r *shipmentRecord, id api.ID) {
	if id == "" || r.intent != nil && r.intent.id == id {
		return
	}
	if r.intent != nil {
		s.unlink(r)
	}
	in := s.intent(id)
	r.intent, r.sibling, in.parcel = in, in.parcel, r.number
	in.parcels++
	s.touch(in)
	s.notice(notice{intent: in, hint: in.newest == 0}) // nobody else may tell of it
	for e := s.events.at(r.latest); e != nil; e = s.events.at(e.earlier) {
		s.tellIntent(in, e, e.received)
	}
	s.nameShipment(r, in.product)
}

// unlink takes a shipment from the intent that it was of.
func (s *Store) unlink(r *shipmentRecord) {
	in := r.intent
	link := &in.parcel
	for *link != r.number {
		link = &s.shipmentBlocks.at(*link).sibling
	}
	*link = r.sibling
	in.parcels--
	r.intent, r.sibling = nil, 0
	s.touch(in)
}

// mergeShipmentEvent merges an event of a shipment. It proves nothing: the
// shipment is read.
func (s *Store) mergeShipmentEvent(r *shipmentRecord, e *eventRecord, now time.Time) {
	r.lastEvent = max(r.lastEvent, e.created)
	s.parcelEventArrived(r, e.created)
	s.tellNews(r)
	if r.intent != nil {
		s.tellIntent(r.intent, e, s.clock.instant(now))
	}
	s.touchShipment(r)
	s.notice(notice{shipment: r, hint: true, fresh: s.isFresh(e)})
}

// tellIntent puts an event of a shipment into the timeline of its intent.
func (s *Store) tellIntent(in *intentRecord, e *eventRecord, learnt instant) {
	if e.lined {
		return
	}
	e.lined = true
	if !in.remembers(e.id) {
		s.remember(in, Moment{What: ShipmentTold, EventID: e.id, Type: e.kind, When: cmp.Or(e.created, e.received).time(), Learnt: learnt.time()})
	}
	s.touch(in)
}

// spreadProduct carries a product's name from its intent to all that speaks of
// it.
func (s *Store) spreadProduct(in *intentRecord) {
	s.nameEvents(in.latest, in.product)
	for at := in.parcel; at != 0; {
		sh := s.shipmentBlocks.at(at)
		s.nameShipment(sh, in.product)
		at = sh.sibling
	}
}

func (s *Store) nameShipment(r *shipmentRecord, product api.Text) {
	if product == "" || r.product == product {
		return
	}
	r.product = product
	s.nameEvents(r.latest, product)
	s.touchShipment(r)
}
