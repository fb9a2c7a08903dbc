package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// shipments keeps the shipments of the picture.
type shipments struct {
	table[Shipment]
	counts map[api.ShipmentStatus]int // "" for those never read
	past   knownIDs                   // those that were dropped
}

func newShipments(n *news, keep int) shipments {
	return shipments{
		table:  newShipmentTable(n),
		counts: map[api.ShipmentStatus]int{}, past: newPast(keep),
	}
}

func newShipmentTable(n *news) table[Shipment] {
	return newTable(n, func(sh *Shipment) (*api.ID, *uint64) { return &sh.ID, &sh.Version })
}

// edit returns a shipment for changes; a new one with only its id if it is unknown.
func (t *shipments) edit(id api.ID) *Shipment {
	if t.get(id) == nil {
		id = api.ScrubID(string(id))
	}
	if t.get(id) == nil {
		t.counts[""]++
	}
	t.news.note(signal{shipment: id})
	return t.table.edit(id)
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

// drop removes a shipment.
func (t *shipments) drop(id api.ID) {
	t.leave(t.get(id).Status())
	t.past.add(id)
	t.table.drop(id)
	t.news.note(signal{shipment: id})
}

// letGo reports whether a shipment was dropped and has not come back.
func (t *shipments) letGo(id api.ID) bool { return t.get(id) == nil && t.past.has(id) }

// open lists the shipments that may still change.
func (t *shipments) open() []*Shipment {
	var open []*Shipment
	for _, sh := range t.byID {
		if !sh.Status().Terminal() {
			open = append(open, sh)
		}
	}
	return open
}

// read merges the answer to a read sent at sent. The later updatedAt wins, then the later read. It returns the
// shipment and its value before, and false if the answer is older than what is known.
func (t *shipments) read(read *api.Shipment, sent time.Time) (sh *Shipment, before Shipment, taken bool) {
	sh = t.edit(read.ID)
	before = *sh
	updated := plausible(read.UpdatedAt)
	if sh.Latest != nil {
		if updated.Before(sh.updated()) && !updated.IsZero() {
			sh.newest = later(sh.newest, sent) // the answer is behind an earlier one
			return sh, before, false
		}
		if !updated.After(sh.updated()) && sent.Before(sh.newest) {
			return sh, before, false
		}
	}
	if before.differs(read) {
		sh.ahead = 0
	}
	if before.Status() != read.Status {
		t.move(before.Status(), read.Status)
	}
	held := *read
	sh.newest, sh.missing, sh.Missing = sent, 0, false
	sh.Latest, sh.ReadAt, sh.Certainty = &held, sent, Verified
	return sh, before, true
}

// differs reports whether a read shows anything new.
func (s *Shipment) differs(read *api.Shipment) bool {
	return s.Latest == nil || !plausible(read.UpdatedAt).Equal(s.updated()) || read.Status != s.Status()
}

// notFound records that a read was answered 404.
func (t *shipments) notFound(id api.ID, sent time.Time) {
	sh := t.edit(id)
	if sent.Before(sh.newest) {
		return
	}
	sh.newest, sh.Missing = sent, true
	sh.missing++
}

// event merges an event of a shipment, which proves nothing: the shipment must be read. settles reports whether it
// is an event that was expected, rather than ahead of the read that it calls for.
func (t *shipments) event(sh *Shipment, e *Event, fresh bool) (settles bool) {
	sh.lastEvent = later(sh.lastEvent, e.CreatedAt)
	if settles = sh.Latest != nil && !e.CreatedAt.After(sh.updated()); !settles {
		sh.ahead++
	}
	t.news.note(signal{shipment: sh.ID, hint: true, fresh: fresh})
	return settles
}

// restore fills in a shipment of an earlier run unless it is known.
func (t *shipments) restore(saved *Shipment, m shipmentMemory, now time.Time) {
	if t.get(saved.ID) != nil {
		return
	}
	sh := t.edit(saved.ID)
	sh.Product, sh.Certainty, sh.Missing, sh.Latest = saved.Product, saved.Certainty, saved.Missing, saved.Latest
	sh.ReadAt, sh.missing = measured(saved.ReadAt, now), max(m.NotFound, 0)
	sh.newest, sh.lastEvent = earlier(measured(m.Newest.time(), now), now), m.LastEvent.time()
	t.move("", sh.Status())
}

// without returns a copy of ids without gone.
func without(ids []api.ID, gone api.ID) []api.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id api.ID) bool { return id == gone })
}
