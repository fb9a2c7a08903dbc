package account

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
)

// shipments are those of the picture.
type shipments struct {
	table[Shipment]
	counts map[api.ShipmentStatus]int // "" stands for those that were never read
}

func newShipments() shipments {
	return shipments{
		table:  newTable(func(sh *Shipment) (*api.ID, *uint64) { return &sh.ID, &sh.Version }),
		counts: map[api.ShipmentStatus]int{},
	}
}

// editNew is [table.edit] for a shipment that may be new.
func (t *shipments) editNew(id api.ID, version uint64) *Shipment {
	if t.get(id) == nil {
		t.counts[""]++
	}
	return t.edit(id, version)
}

// move counts a shipment under another status.
func (t *shipments) move(from, to api.ShipmentStatus) {
	t.leave(from)
	t.counts[to]++
}

func (t *shipments) leave(status api.ShipmentStatus) {
	if t.counts[status]--; t.counts[status] == 0 {
		delete(t.counts, status)
	}
}

// open is how many shipments may still change.
func (t *shipments) open() int {
	open := 0
	for status, n := range t.counts {
		if !status.Terminal() {
			open += n
		}
	}
	return open
}

// editShipment returns a shipment for changes.
func (s *Store) editShipment(id api.ID) *Shipment {
	if s.shipments.get(id) == nil {
		id = api.ScrubID(string(id))
	}
	s.notice(notice{shipment: id})
	return s.shipments.editNew(id, s.stamp())
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

func (s *Store) mergeShipment(read *api.Shipment, sent time.Time) (news bool) {
	sh := s.editShipment(read.ID)
	updated, before := plausible(read.UpdatedAt), sh.updated()
	if sh.Latest != nil {
		if updated.Before(before) && !updated.IsZero() {
			sh.newest = later(sh.newest, sent) // the service itself is behind what it told before
			return false
		}
		if !updated.After(before) && sent.Before(sh.newest) {
			return false
		}
	}
	was, is := sh.Status(), read.Status
	news = sh.Latest == nil || !updated.Equal(before) || is != was
	if news {
		s.expectShipmentEvents(sh, read, time.Now())
	}
	if was != is {
		s.shipments.move(was, is)
		s.reads.StateChanges++
	}
	held := *read
	sh.newest, sh.missing, sh.Missing = sent, 0, false
	sh.Latest, sh.ReadAt, sh.Certainty = &held, sent, Verified
	s.link(sh, read.IntentID)
	s.tellNews(sh)
	return news
}

// ApplyIntentShipments is [Store.ApplyShipments] for the list of one intent's
// shipments.
func (s *Store) ApplyIntentShipments(id api.ID, list []api.Shipment, sent time.Time) {
	s.ApplyShipments(list, sent)
	s.mu.Lock()
	defer s.release()
	s.editIntent(id).basis.listed = true
}

// ApplyMissingShipment notes that a read did not find the shipment.
func (s *Store) ApplyMissingShipment(id api.ID, sent time.Time) {
	s.mu.Lock()
	defer s.release()
	s.stamp()
	sh := s.editShipment(id)
	if sent.Before(sh.newest) {
		return
	}
	sh.newest, sh.Missing = sent, true
	sh.missing++
}

// link ties a shipment to its intent, which becomes known by it.
func (s *Store) link(sh *Shipment, id api.ID) {
	if id = api.ScrubID(string(id)); id == "" || sh.IntentID == id {
		return
	}
	if sh.IntentID != "" {
		s.unlink(sh)
	}
	in := s.editIntent(id)
	sh.IntentID = id
	in.Shipments = append(in.Shipments, sh.ID)
	s.notice(notice{intent: id, hint: in.basis.newest.IsZero()}) // nobody else may tell of it
	for _, e := range s.events.of(sh.ID) {
		s.tellIntent(in, e, e.Received)
	}
	s.nameShipment(sh.ID, in.Product)
}

// unlink takes a shipment from the intent that it was of.
func (s *Store) unlink(sh *Shipment) {
	in := s.editIntent(sh.IntentID)
	in.Shipments = slices.DeleteFunc(slices.Clone(in.Shipments), func(id api.ID) bool { return id == sh.ID })
	sh.IntentID = ""
}

// mergeShipmentEvent merges an event of a shipment. It proves nothing: the
// shipment is read.
func (s *Store) mergeShipmentEvent(sh *Shipment, e *Event, now time.Time) {
	sh.lastEvent = later(sh.lastEvent, e.CreatedAt)
	s.shipmentEventArrived(sh, e.CreatedAt)
	s.tellNews(sh)
	if sh.IntentID != "" {
		s.tellIntent(s.editIntent(sh.IntentID), e, now)
	}
	s.notice(notice{shipment: sh.ID, hint: true, fresh: s.isFresh(e)})
}

// tellIntent puts an event of a shipment into the timeline of its intent.
func (s *Store) tellIntent(in *IntentDetail, e *Event, learnt time.Time) {
	if e.lined {
		return
	}
	s.events.edit(e, s.stamp()).lined = true
	if !in.remembers(e.ID) {
		s.remember(in, Moment{What: ShipmentTold, EventID: e.ID, Type: e.Type, When: cmp.Or(e.CreatedAt, e.Received), Learnt: utc(learnt)})
	}
}

// spreadProduct carries a product's name from its intent to all that speaks of
// it.
func (s *Store) spreadProduct(in *IntentDetail) {
	s.nameEvents(in.ID, in.Product)
	for _, id := range in.Shipments {
		s.nameShipment(id, in.Product)
	}
}

func (s *Store) nameShipment(id api.ID, product api.Text) {
	if sh := s.shipments.get(id); sh == nil || product == "" || sh.Product == product {
		return
	}
	s.editShipment(id).Product = product
	s.nameEvents(id, product)
}

// nameEvents gives a product's name to the kept events of a source.
func (s *Store) nameEvents(source api.ID, product api.Text) {
	for _, e := range s.events.of(source) {
		s.events.edit(e, s.stamp()).Product = product
	}
}
