package account

import (
	"time"

	"tillwatch/api"
)

// links passes what is learnt of an intent or a shipment on to the other, and to their events.
type links struct {
	news      *news
	intents   *intents
	shipments *shipments
	events    *events
}

// link ties a shipment to its intent, which becomes known if it was not.
func (t *links) link(sh *Shipment, id api.ID) {
	if id = api.ScrubID(string(id)); id == "" || sh.IntentID == id {
		return
	}
	if sh.IntentID != "" {
		in := t.intents.edit(sh.IntentID)
		in.Shipments = without(in.Shipments, sh.ID)
	}
	in := t.intents.edit(id)
	sh.IntentID = id
	in.Shipments = append(in.Shipments, sh.ID)
	t.news.note(signal{intent: id, hint: in.basis.newest.IsZero()}) // perhaps nothing else names it
	for _, e := range t.events.of(sh.ID) {
		t.line(in, e, e.Received)
	}
	t.nameShipment(sh.ID, in.Product)
}

// line adds a shipment's event to the timeline of its intent, once.
func (t *links) line(in *IntentDetail, e *Event, learnt time.Time) {
	if !e.lined {
		t.events.edit(e.ID).lined = true
		in.shipmentEvent(e, learnt)
	}
}

// spreadProduct copies a product's name from its intent to the shipments and events.
func (t *links) spreadProduct(in *IntentDetail) {
	t.events.name(in.ID, in.Product)
	for _, id := range in.Shipments {
		t.nameShipment(id, in.Product)
	}
}

func (t *links) nameShipment(id api.ID, product api.Text) {
	if sh := t.shipments.get(id); sh == nil || product == "" || sh.Product == product {
		return
	}
	t.shipments.edit(id).Product = product
	t.events.name(id, product)
}

// adopt ties a restored shipment to its intent, if both are kept.
func (t *links) adopt(intent, shipment api.ID) {
	sh := t.shipments.get(shipment)
	if sh == nil || sh.IntentID != "" || t.intents.get(intent) == nil {
		return
	}
	in := t.intents.edit(intent)
	t.shipments.edit(shipment).IntentID = intent
	in.Shipments = append(in.Shipments, shipment)
}

// intentOf returns the intent whose timeline an event belongs to; nil for none.
func (t *links) intentOf(e *Event) *IntentDetail {
	switch e.SourceType {
	case api.SourceIntent:
		return t.intents.get(e.SourceID)
	case api.SourceShipment:
		if sh := t.shipments.get(e.SourceID); sh != nil {
			return t.intents.get(sh.IntentID)
		}
	}
	return nil
}
