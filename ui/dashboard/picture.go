package dashboard

import (
	"slices"

	"tillwatch/api"
	"tillwatch/api/account"
)

// picture is what is known, kept current also while the screen is frozen.
type picture struct {
	started   bool
	version   uint64
	intents   map[api.ID]*account.Intent
	shipments map[api.ID]*account.Shipment
	events    []*account.Event // the newest, oldest first
	requests  []api.Exchange   // the newest, oldest first
	summary   account.Summary
}

// keptEvents bounds how many events are kept for a frozen screen.
const keptEvents = 2000

// keptRequests is the same for the client's own calls.
const keptRequests = 500

func newPicture() *picture {
	return &picture{intents: map[api.ID]*account.Intent{}, shipments: map[api.ID]*account.Shipment{}}
}

func (p *picture) apply(c *account.Changes) {
	if c.Whole {
		*p = *newPicture()
	}
	for _, in := range c.Intents {
		p.intents[in.ID] = in
	}
	for _, s := range c.Shipments {
		p.shipments[s.ID] = s
	}
	p.events = append(p.events, c.Events...)
	if len(p.events) > 2*keptEvents {
		p.events = slices.Clone(p.events[len(p.events)-keptEvents:])
	}
	p.requests = append(p.requests, c.Requests...)
	if len(p.requests) > 2*keptRequests {
		p.requests = slices.Clone(p.requests[len(p.requests)-keptRequests:])
	}
	p.summary, p.version, p.started = c.Summary, c.Version, true
}

// all is the whole picture as one change.
func (p *picture) all() account.Changes {
	c := account.Changes{Version: p.version, Summary: p.summary, Events: p.events, Requests: p.requests}
	for _, in := range p.intents {
		c.Intents = append(c.Intents, in)
	}
	for _, s := range p.shipments {
		c.Shipments = append(c.Shipments, s)
	}
	return c
}

// shipmentsOf lists the shipments of an intent, by id.
func (p *picture) shipmentsOf(id api.ID) []*account.Shipment {
	var found []*account.Shipment
	for _, s := range p.shipments {
		if s.IntentID == id {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *account.Shipment) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return found
}
