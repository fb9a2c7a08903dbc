package account

import (
	"time"

	"tillwatch/api"
)

// link ties a shipment to its intent, which becomes known by it.
func (s *Store) link(sh *Shipment, id api.ID) {
	if id = api.ScrubID(string(id)); id == "" || sh.IntentID == id {
		return
	}
	if sh.IntentID != "" {
		in := s.intents.edit(sh.IntentID)
		in.Shipments = without(in.Shipments, sh.ID)
	}
	in := s.intents.edit(id)
	sh.IntentID = id
	in.Shipments = append(in.Shipments, sh.ID)
	s.news.note(notice{intent: id, hint: in.basis.newest.IsZero()}) // nothing else may name it
	for _, e := range s.events.of(sh.ID) {
		s.line(in, e, e.Received)
	}
	s.nameShipment(sh.ID, in.Product)
}

// line puts an event of a shipment into the timeline of its intent, unless it stands
// there.
func (s *Store) line(in *IntentDetail, e *Event, learnt time.Time) {
	if !e.lined {
		s.events.edit(e).lined = true
		in.shipmentEvent(e, learnt)
	}
}

// spreadProduct carries a product's name from its intent to all that speaks of it.
func (s *Store) spreadProduct(in *IntentDetail) {
	s.events.name(in.ID, in.Product)
	for _, id := range in.Shipments {
		s.nameShipment(id, in.Product)
	}
}

func (s *Store) nameShipment(id api.ID, product api.Text) {
	if sh := s.shipments.get(id); sh == nil || product == "" || sh.Product == product {
		return
	}
	s.shipments.edit(id).Product = product
	s.events.name(id, product)
}
