package dashboard

import (
	"slices"

	"tillwatch/api"
	"tillwatch/api/account"
)

// picture is what is known, kept current also while the screen is frozen. Of
// intents the screen itself keeps what is known; the picture keeps what has
// changed of them while the screen is frozen.
type picture struct {
	started       bool
	version       uint64
	behind        map[api.ID]*account.Intent // that have changed since the screen was frozen
	anew          bool                       // since then the picture has started over
	gone          []api.ID                   // intents that were let go since
	goneShipments []api.ID                   // shipments, likewise
	shipments     map[api.ID]*account.Shipment
	events        []*account.Event // the newest, oldest first
	requests      []api.Exchange   // the newest, oldest first
	summary       account.Summary
}

// keptEvents bounds how many events are kept for a frozen screen.
const keptEvents = 2000

// keptRequests is the same for the account's requests.
const keptRequests = 500

func newPicture() *picture {
	return &picture{behind: map[api.ID]*account.Intent{}, shipments: map[api.ID]*account.Shipment{}}
}

// apply takes over what changed. frozen says that the screen does not.
func (p *picture) apply(c *account.Changes, frozen bool) {
	if c.Whole {
		*p = *newPicture()
		p.anew = frozen
	}
	if frozen {
		for _, id := range c.GoneIntents {
			delete(p.behind, id)
		}
		for _, in := range c.Intents {
			p.behind[in.ID] = in
		}
		p.gone, p.goneShipments = append(p.gone, c.GoneIntents...), append(p.goneShipments, c.GoneShipments...)
	}
	for _, id := range c.GoneShipments {
		delete(p.shipments, id)
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

// missed is what a frozen screen has to take over to show the whole picture.
func (p *picture) missed() account.Changes {
	c := account.Changes{Version: p.version, Whole: p.anew, Summary: p.summary, Events: p.events, Requests: p.requests}
	for _, in := range p.behind {
		c.Intents = append(c.Intents, in)
	}
	for _, s := range p.shipments {
		c.Shipments = append(c.Shipments, s)
	}
	for _, id := range p.gone {
		if p.behind[id] == nil { // else it is back
			c.GoneIntents = append(c.GoneIntents, id)
		}
	}
	for _, id := range p.goneShipments {
		if p.shipments[id] == nil {
			c.GoneShipments = append(c.GoneShipments, id)
		}
	}
	p.behind, p.gone, p.goneShipments, p.anew = map[api.ID]*account.Intent{}, nil, nil, false
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
