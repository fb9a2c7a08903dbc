package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// shipmentRecord is the store's own view of a shipment.
type shipmentRecord struct {
	place     entry[*shipmentRecord]
	published *Shipment

	now       Shipment
	newest    time.Time // when the newest read was sent
	lastEvent time.Time
	events    []*eventRecord // kept ones that still lack the product's name
	missing   int            // reads in a row that did not find it
}

func (r *shipmentRecord) publish() *Shipment {
	if r.published == nil {
		sh := r.now
		sh.Version = r.place.version
		r.published = &sh
	}
	return r.published
}

func (s *Store) shipment(id api.ID) *shipmentRecord {
	if r := s.shipments[id]; r != nil {
		return r
	}
	r := &shipmentRecord{now: Shipment{ID: id}}
	r.place.value = r
	s.shipments[id] = r
	s.shipmentCounts[""]++
	s.touchShipment(r)
	return r
}

func (s *Store) touchShipment(r *shipmentRecord) {
	r.published = nil
	s.shipmentOrder.touch(&r.place, s.stamp())
	s.notice(notice{shipment: r.now.ID})
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
	if old := r.now.Latest; old != nil {
		if sh.UpdatedAt.Before(old.UpdatedAt) && !sh.UpdatedAt.IsZero() {
			return
		}
		if !sh.UpdatedAt.After(old.UpdatedAt) && sent.Before(r.newest) {
			return
		}
	}
	was, is := r.now.Status(), sh.Status
	if was != is {
		s.shipmentCounts[was]--
		if s.shipmentCounts[was] == 0 {
			delete(s.shipmentCounts, was)
		}
		s.shipmentCounts[is]++
		s.reads.StateChanges++
	}
	held := *sh
	r.newest, r.missing, r.now.Missing = sent, 0, false
	r.now.Latest, r.now.ReadAt, r.now.Certainty = &held, sent, Verified
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
	r.newest, r.now.Missing = sent, true
	r.missing++
	s.touchShipment(r)
}

// link ties a shipment to its intent, which becomes known by it.
func (s *Store) link(r *shipmentRecord, id api.ID) {
	if id == "" || r.now.IntentID == id {
		return
	}
	r.now.IntentID = id
	in := s.intent(id)
	if !slices.Contains(in.now.Shipments, r.now.ID) {
		in.now.Shipments = append(in.now.Shipments, r.now.ID)
		s.touch(in)
	}
	s.nameShipment(r, in.now.Product)
}

// mergeShipmentEvent merges an event of a shipment. It proves nothing: the
// shipment is read.
func (s *Store) mergeShipmentEvent(r *shipmentRecord, e *Event) {
	if e.CreatedAt.After(r.lastEvent) {
		r.lastEvent = e.CreatedAt
	}
	s.touchShipment(r)
	s.notice(notice{shipment: r.now.ID, hint: true, fresh: s.isFresh(e)})
}

// spreadProduct carries a product's name from its intent to all that speaks of
// it.
func (s *Store) spreadProduct(in *intentRecord) {
	s.nameEvents(in.events, in.now.Product)
	in.events = nil
	for _, id := range in.now.Shipments {
		s.nameShipment(s.shipments[id], in.now.Product)
	}
}

func (s *Store) nameShipment(r *shipmentRecord, product api.Text) {
	if product == "" || r.now.Product == product {
		return
	}
	r.now.Product = product
	s.nameEvents(r.events, product)
	r.events = nil
	s.touchShipment(r)
}
