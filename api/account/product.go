package account

import (
	"time"

	"tillwatch/api"
)

// ProductSnapshot is the newest product that an event carried. The product may
// have changed since: only a lookup knows.
type ProductSnapshot struct {
	Product   api.Product // zero when no snapshot was carried
	At        time.Time   // createdAt of the event that carried it
	LastEvent time.Time   // createdAt of the newest event
	Removed   bool        // the newest event said that it was removed
}

// Product returns the snapshot of a product.
func (s *Store) Product(id api.ID) (ProductSnapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.products[id]
	if p == nil {
		return ProductSnapshot{}, false
	}
	return *p, true
}

// keepProducts bounds the snapshots: a product with many variants is large.
const keepProducts = 1000

func (s *Store) dropOldestProduct() {
	var oldest api.ID
	for id, p := range s.products {
		if oldest == "" || p.LastEvent.Before(s.products[oldest].LastEvent) {
			oldest = id
		}
	}
	delete(s.products, oldest)
}

// mergeProduct keeps the snapshot of the event that was created last, whatever
// the order in which they come.
func (s *Store) mergeProduct(e *api.Event) *ProductSnapshot {
	p := s.products[e.Source.ID]
	if p == nil {
		if len(s.products) >= keepProducts {
			s.dropOldestProduct()
		}
		p = &ProductSnapshot{}
		s.products[e.Source.ID] = p
	}
	if !e.CreatedAt.Before(p.LastEvent) {
		p.LastEvent = e.CreatedAt
		p.Removed = e.Type == api.ProductRemoved
	}
	if len(e.Data) == 0 || e.CreatedAt.Before(p.At) {
		return p
	}
	if product, err := api.DecodeProduct(e.Data); err == nil {
		p.Product, p.At = product, e.CreatedAt
	}
	return p
}
