package account

import (
	"cmp"
	"strings"
	"time"

	"tillwatch/api"
)

// shipmentRecord is the store's own view of a shipment.
type shipmentRecord struct {
	place entry[*shipmentRecord]

	id        api.ID
	intent    *intentRecord // nil while not known
	latest    *api.Shipment // the newest read; nil when never read
	product   api.Text
	readAt    time.Time
	newest    time.Time // when the newest read was sent
	lastEvent time.Time
	number    uint32
	sibling   uint32 // the shipment of the same intent that became known before it
	unnamed   uint32 // the newest kept event that lacks the product's name, counted from 1
	missing   uint8  // reads in a row that did not find it
	certainty Certainty
	gone      bool // the service answered 404 to the last read
}

const shipmentsPerBlock = 256

func (r *shipmentRecord) publish() *Shipment {
	sh := &Shipment{
		ID: r.id, Product: r.product, Certainty: r.certainty, ReadAt: r.readAt,
		Latest: r.latest, Missing: r.gone, Version: r.place.version,
	}
	if r.intent != nil {
		sh.IntentID = r.intent.id
	}
	return sh
}

func (r *shipmentRecord) status() api.ShipmentStatus {
	if r.latest == nil {
		return ""
	}
	return r.latest.Status
}

func (s *Store) shipment(id api.ID) *shipmentRecord {
	if r := s.shipments[id]; r != nil {
		return r
	}
	id = api.ScrubID(strings.Clone(string(id))) // it may be a part of an event's id
	number, r := s.shipmentBlocks.add()
	r.id, r.number, r.place.value = id, number, r
	s.shipments[id] = r
	s.shipmentCounts[""]++
	s.touchShipment(r)
	return r
}

func (s *Store) touchShipment(r *shipmentRecord) {
	s.shipmentOrder.touch(&r.place, s.stamp())
	s.notice(notice{shipment: r.id})
}

// ApplyShipments merges the answer to one read of shipments that was sent at
// sent. A shipment is as new as its updatedAt, and of equal ones the later read
// wins.
func (s *Store) ApplyShipments(list []api.Shipment, sent time.Time) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	s.reads.Total++
	s.lastRead = now
	for i := range list {
		s.mergeShipment(&list[i], sent)
	}
}

func (s *Store) mergeShipment(sh *api.Shipment, sent time.Time) {
	r := s.shipment(sh.ID)
	if old := r.latest; old != nil {
		if sh.UpdatedAt.Before(old.UpdatedAt) && !sh.UpdatedAt.IsZero() {
			return
		}
		if !sh.UpdatedAt.After(old.UpdatedAt) && sent.Before(r.newest) {
			return
		}
	}
	was, is := r.status(), sh.Status
	if was != is {
		s.shipmentCounts[was]--
		if s.shipmentCounts[was] == 0 {
			delete(s.shipmentCounts, was)
		}
		s.shipmentCounts[is]++
		s.reads.StateChanges++
	}
	held := *sh
	r.newest, r.missing, r.gone = sent, 0, false
	r.latest, r.readAt, r.certainty = &held, sent, Verified
	s.link(r, sh.IntentID)
	s.touchShipment(r)
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
	if sent.Before(r.newest) {
		return
	}
	r.newest, r.gone = sent, true
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
	for e := s.events.at(r.unnamed); e != nil; e = s.events.at(e.unnamed) {
		s.tellIntent(in, e, e.received)
	}
	s.nameShipment(r, s.productOf(in))
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
	if created := e.created.time(); created.After(r.lastEvent) {
		r.lastEvent = created
	}
	if r.intent != nil {
		s.tellIntent(r.intent, e, s.clock.instant(now))
	}
	s.touchShipment(r)
	s.notice(notice{shipment: r.id, hint: true, fresh: s.isFresh(e)})
}

// tellIntent puts an event of a shipment into the timeline of its intent.
func (s *Store) tellIntent(in *intentRecord, e *eventRecord, learnt instant) {
	if e.lined {
		return
	}
	m := s.eventMoment(in.id, e.id, e.kind, cmp.Or(e.created, e.received), learnt)
	m.kind |= ofShipment
	e.lined = true
	s.rememberOnce(in, e.hash, e.id, m)
	s.touch(in)
}

// spreadProduct carries a product's name from its intent to all that speaks of
// it.
func (s *Store) spreadProduct(in *intentRecord, name api.Text) {
	s.nameEvents(in.unnamed, name)
	in.unnamed = 0
	for at := in.parcel; at != 0; {
		sh := s.shipmentBlocks.at(at)
		s.nameShipment(sh, name)
		at = sh.sibling
	}
}

func (s *Store) nameShipment(r *shipmentRecord, product api.Text) {
	if product == "" || r.product == product {
		return
	}
	r.product = product
	s.nameEvents(r.unnamed, product)
	r.unnamed = 0
	s.touchShipment(r)
}
