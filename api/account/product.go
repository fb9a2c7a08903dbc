package account

import (
	"time"

	"tillwatch/api"
)

// products is what events have reported of products, by id.
type products map[api.ID]*product

type product struct {
	name      api.Text  // from the newest snapshot in an event; "" for none
	namedAt   time.Time // createdAt of that event
	lastEvent time.Time // createdAt of the newest event; zero if it did not say
}

// keepProducts bounds how many products are kept.
const keepProducts = 1000

func (p products) dropOldest() {
	var oldest api.ID
	for id, known := range p {
		if oldest == "" || known.lastEvent.Before(p[oldest].lastEvent) {
			oldest = id
		}
	}
	delete(p, oldest)
}

// event takes in an event of a product. The event created last names it, in whatever order they arrive. late: it
// arrived after an event created later.
func (p products) event(e *api.Event) (name api.Text, late bool) {
	known := p[e.Source.ID]
	if known == nil {
		if len(p) >= keepProducts {
			p.dropOldest()
		}
		known = &product{}
		p[e.Source.ID] = known
	}
	at := plausible(e.CreatedAt)
	late = !at.IsZero() && at.Before(known.lastEvent)
	known.lastEvent = later(known.lastEvent, at)
	if snapshot, err := api.DecodeProduct(e.Data); err == nil && !at.Before(known.namedAt) {
		known.name, known.namedAt = snapshot.Name, at
	}
	return known.name, late
}
