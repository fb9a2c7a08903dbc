package account

import "tillwatch/api"

// ahead is what is looked up of an event before those before it in its batch are
// merged.
type ahead struct {
	hash     uint64 // of its id
	sought   sought // when it is of an intent
	record   *intentRecord
	shipment *shipmentRecord
}

// lookAhead looks up what a batch of events is about. Where there are many
// intents, most of the time goes into waiting for memory that no cache holds: the
// waits of a batch, and those of one event, pass at the same time when all is
// touched before any of it is used.
func (s *Store) lookAhead(batch []Delivery) []ahead {
	if len(s.ahead) < len(batch) {
		s.ahead = make([]ahead, len(batch))
	}
	all, seen := s.ahead[:len(batch)], uint32(0)
	for i := range batch {
		e, a := &batch[i].Event, &all[i]
		a.record, a.shipment = nil, nil
		switch e.Source.Type {
		case api.SourceIntent:
			a.sought = s.intents.sought(e.Source.ID)
			seen += s.intents.touch(a.sought.hash)
		case api.SourceShipment:
			a.shipment = s.shipments[e.Source.ID]
		}
		a.hash = s.events.hash(e.ID)
		seen += s.events.lined.touch(a.hash)
	}
	for i := range batch {
		e, a := &batch[i].Event, &all[i]
		in := (*intentRecord)(nil)
		switch {
		case e.Source.Type == api.SourceIntent:
			a.record = s.findSought(&a.sought, e.Source.ID)
			in = a.record
		case a.shipment != nil:
			in = a.shipment.intent
		}
		if in != nil {
			seen += in.line + uint32(in.seen) // both ends of what an event looks at
		}
	}
	s.seen = seen
	return all
}

// touch reads where a look for a hash begins.
func (x *intentIndex) touch(hash uint64) uint32 {
	p := &x.parts[hash%indexParts]
	if len(p.slots) == 0 {
		return 0
	}
	return p.slots[p.home(uint32(hash>>32))].number
}

// touch reads where a look for a hash begins.
func (f *fingerprints) touch(hash uint64) uint32 {
	if f.parts == nil {
		return 0
	}
	p := &f.parts[hash%fingerprintParts]
	if p.used == 0 {
		return 0
	}
	return p.slots[p.home(fingerprint(hash))]
}
