package dashboard

import (
	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/pane"
)

// intentUnder is the intent of the thing under the cursor.
func (b *board) intentUnder() (*account.Intent, bool) { return b.intentOf(b.subject()) }

// intentOf is the intent that a subject belongs to.
func (b *board) intentOf(s pane.Subject) (*account.Intent, bool) {
	if s.Kind == pane.OfOrder {
		return nil, false // an order has several
	}
	id := s.ID
	if s.Kind == pane.OfEvent {
		if e, ok := b.events.Find(id); ok {
			id = e.SourceID // an intent or a shipment
		}
	}
	return b.intentOfSource(id)
}

// intentOfSource is the intent with this id, or of the shipment with this id.
func (b *board) intentOfSource(id api.ID) (*account.Intent, bool) {
	if shipment, ok := b.picture.shipments[id]; ok {
		id = shipment.IntentID
	}
	in, ok := b.picture.intents[id]
	return in, ok
}
