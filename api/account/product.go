package account

import (
	"time"

	"tillwatch/api"
)

// ProductSnapshot is the newest product that an event carried. The product may
// have changed since: only a lookup knows.
type ProductSnapshot struct {
	Product   api.Product // zero when no snapshot was carried
	At        time.Time   // createdAt of the event that carried it; zero when none did
	LastEvent time.Time   // createdAt of the newest event; zero when it did not say
	Removed   bool        // the newest event said that it was removed
}

// products are the newest snapshots.
type products map[api.ID]*ProductSnapshot

// keepProducts bounds the snapshots: a product with many variants is large.
const keepProducts = 1000

func (p products) of(id api.ID) (ProductSnapshot, bool) {
	if snapshot := p[id]; snapshot != nil {
		return *snapshot, true
	}
	return ProductSnapshot{}, false
}

func (p products) dropOldest() {
	var oldest api.ID
	for id, snapshot := range p {
		if oldest == "" || snapshot.LastEvent.Before(p[oldest].LastEvent) {
			oldest = id
		}
	}
	delete(p, oldest)
}

// merge keeps the snapshot of the event that was created last, whatever the order
// in which they come.
func (p products) merge(e *api.Event) *ProductSnapshot {
	snapshot := p[e.Source.ID]
	if snapshot == nil {
		if len(p) >= keepProducts {
			p.dropOldest()
		}
		snapshot = &ProductSnapshot{}
		p[e.Source.ID] = snapshot
	}
	if !e.CreatedAt.Before(snapshot.LastEvent) {
		snapshot.LastEvent = e.CreatedAt
		snapshot.Removed = e.Type == api.ProductRemoved
	}
	if len(e.Data) == 0 || e.CreatedAt.Before(snapshot.At) {
		return snapshot
	}
	if product, err := api.DecodeProduct(e.Data); err == nil {
		snapshot.Product, snapshot.At = product, e.CreatedAt
	}
	return snapshot
}
