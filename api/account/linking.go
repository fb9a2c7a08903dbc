package account

import (
	"time"

	"tillwatch/api"
)

// ties carries what is learnt of an intent or a shipment to the other one, and to the
// events that speak of them.
type ties struct {
	news      *news
	intents   *intents
	shipments *shipments
	events    *events
}

// link ties a shipment to its intent, which becomes known by it.
func (t *ties) link(sh *Shipment, id api.ID) {
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
	t.news.note(notice{intent: id, hint: in.basis.newest.IsZero()}) // nothing else may name it
	for _, e := range t.events.of(sh.ID) {
		t.line(in, e, e.Received)
	}
	t.nameShipment(sh.ID, in.Product)
}

// line puts an event of a shipment into the timeline of its intent, unless it stands
// there.
func (t *ties) line(in *IntentDetail, e *Event, learnt time.Time) {
	if !e.lined {
		t.events.edit(e.ID).lined = true
		in.shipmentEvent(e, learnt)
	}
}

// spreadProduct carries a product's name from its intent to all that speaks of it.
func (t *ties) spreadProduct(in *IntentDetail) {
	t.events.name(in.ID, in.Product)
	for _, id := range in.Shipments {
		t.nameShipment(id, in.Product)
	}
}

func (t *ties) nameShipment(id api.ID, product api.Text) {
	if sh := t.shipments.get(id); sh == nil || product == "" || sh.Product == product {
		return
	}
	t.shipments.edit(id).Product = product
	t.events.name(id, product)
}

// adopt ties a restored shipment to its intent, if both are there.
func (t *ties) adopt(intent, shipment api.ID) {
	sh := t.shipments.get(shipment)
	if sh == nil || sh.IntentID != "" || t.intents.get(intent) == nil {
		return
	}
	in := t.intents.edit(intent)
	t.shipments.edit(shipment).IntentID = intent
	in.Shipments = append(in.Shipments, shipment)
}

// intentOf returns the intent in whose timeline an event may stand; nil for none.
func (t *ties) intentOf(e *Event) *IntentDetail {
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
