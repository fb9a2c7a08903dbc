package dashboard

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// picture is everything that is known about the account, current even while the screen is
// frozen.
type picture struct {
	configured api.Environment // valid until an answer names another
	started    bool            // the first change has arrived
	since      time.Time       // when it arrived
	version    uint64
	frozen     *frozen // nil while the screen follows
	intents    map[api.ID]*account.Intent
	shipments  map[api.ID]*account.Shipment
	events     []*account.Event // the newest, oldest first
	requests   []api.Exchange   // the newest, oldest first
	summary    account.Summary
	urgent     []account.Alert // alerts of the summary that are neither acknowledged nor muted
	pulseStale bool            // an intent came, went or changed in more than its reads since the pulse was calculated
}

// frozen describes a frozen screen.
type frozen struct {
	at        time.Time
	events    int      // number of events received until then
	intents   []api.ID // on the screen
	shipments []api.ID // on the screen
	anew      bool     // the picture has started again since: nothing on the screen is valid
}

// keptEvents bounds how many events are kept for a frozen screen.
const keptEvents = 2000

// keptRequests is the same for the account's requests.
const keptRequests = 500

func newPicture(configured api.Environment) *picture {
	return &picture{configured: configured, intents: map[api.ID]*account.Intent{}, shipments: map[api.ID]*account.Shipment{}}
}

// environment returns the environment of the last answer, else the configured one.
func (p *picture) environment() api.Environment {
	if last := p.summary.API.From; last.Name != "" {
		return last
	}
	return p.configured
}

// apply applies changes.
func (p *picture) apply(c *account.Changes) {
	if c.Whole {
		held := p.frozen
		*p = *newPicture(p.configured)
		p.pulseStale = true
		if held != nil {
			p.frozen = &frozen{at: held.at, events: held.events, anew: true}
		}
	}
	for _, id := range c.GoneIntents {
		delete(p.intents, id)
	}
	p.pulseStale = p.pulseStale || !p.started || len(c.GoneIntents) > 0
	for _, in := range c.Intents {
		p.pulseStale = p.pulseStale || !sameButReads(p.intents[in.ID], in)
		p.intents[in.ID] = in
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

// sameButReads reports whether an intent differs only in when and how often it was read. before
// is nil if it is new.
func sameButReads(before, now *account.Intent) bool {
	if before == nil {
		return false
	}
	was := *before
	was.ReadAt, was.Reads, was.Version = now.ReadAt, now.Reads, now.Version
	return was == *now
}

// freeze holds the screen.
func (p *picture) freeze(now time.Time) {
	p.frozen = &frozen{at: now, events: p.summary.Events.Received, intents: slices.Collect(maps.Keys(p.intents)), shipments: slices.Collect(maps.Keys(p.shipments))}
}

// thaw unfreezes the screen, and returns the changes that bring it up to date.
func (p *picture) thaw() account.Changes {
	c := account.Changes{Version: p.version, Whole: p.frozen.anew, Summary: p.summary, Events: p.events, Requests: p.requests,
		Intents: slices.Collect(maps.Values(p.intents)), Shipments: slices.Collect(maps.Values(p.shipments))}
	for _, id := range p.frozen.intents {
		if p.intents[id] == nil {
			c.GoneIntents = append(c.GoneIntents, id)
		}
	}
	for _, id := range p.frozen.shipments {
		if p.shipments[id] == nil {
			c.GoneShipments = append(c.GoneShipments, id)
		}
	}
	p.frozen = nil
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
	slices.SortFunc(found, func(a, b *account.Shipment) int { return cmp.Compare(a.ID, b.ID) })
	return found
}
