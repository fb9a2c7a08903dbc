package recording

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Bounds of a picture, the same as those of a store.
const (
	keptEvents   = 5000
	keptRequests = 500
)

// decode reads the lines of a change as one frame. It skips and counts unreadable lines:
// the rest of the picture is better than nothing.
func decode(lines []byte, take func(*account.Frame)) (leftOut int) {
	for line := range bytes.Lines(lines) {
		f, err := account.ReadFrame(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			leftOut++
			continue
		}
		if f.Glance { // possible in an unpacked file
			continue
		}
		leftOut += max(f.LeftOut, 0)
		take(f)
	}
	return leftOut
}

// picture is the content of a recording at one moment.
type picture struct {
	intents   map[api.ID]*account.IntentDetail
	shipments map[api.ID]*account.Shipment
	events    []*account.Event // the latest ones, oldest first
	places    map[api.ID]int   // of events, counted from the first one ever
	dropped   int              // number of dropped events
	requests  []request        // the latest ones, oldest first
	left      []left           // the latest ones, oldest first
	whole     uint64           // changes since an earlier version are the whole picture
	summary   map[string]json.RawMessage
	quota     account.FrameQuota
	leftOut   int // number of things that are missing
}

// request is a request with the version that brought it.
type request struct {
	api.Exchange
	version uint64
}

// left is what a version removed or skipped.
type left struct {
	version            uint64
	intents, shipments []api.ID
	skipped            int // number of events
}

// mostLeft bounds how many of these are kept for a screen that lags.
const mostLeft = 4096

// newPicture returns an empty picture of a version.
func newPicture(version uint64) *picture {
	return &picture{
		whole:   version,
		intents: map[api.ID]*account.IntentDetail{}, shipments: map[api.ID]*account.Shipment{}, places: map[api.ID]int{},
		summary: map[string]json.RawMessage{},
	}
}

// apply applies the lines of a change. Of the whole picture at the beginning of a
// chapter, only what differs gets the new version.
func (p *picture) apply(lines []byte, version uint64) {
	var whole map[api.ID]bool // the ids in a whole picture
	var since time.Time       // of a whole picture, only later requests are new
	p.leftOut += decode(lines, func(f *account.Frame) {
		if f.Whole {
			whole = map[api.ID]bool{}
			if n := len(p.requests); n > 0 {
				since = p.requests[n-1].Sent
			}
		}
		p.applyLine(f, version)
		for _, e := range f.Requests {
			if since.IsZero() || e.Sent.After(since) {
				p.requests = append(p.requests, request{e, version})
			}
		}
		if whole != nil {
			for _, in := range f.Intents {
				whole[in.ID] = true
			}
			for _, s := range f.Shipments {
				whole[s.ID] = true
			}
		}
	})
	if whole != nil {
		known := len(p.intents) + len(p.shipments)
		maps.DeleteFunc(p.intents, func(id api.ID, _ *account.IntentDetail) bool { return !whole[id] })
		maps.DeleteFunc(p.shipments, func(id api.ID, _ *account.Shipment) bool { return !whole[id] })
		if len(p.intents)+len(p.shipments) < known {
			p.whole = version
		}
	}
	if len(p.requests) > 2*keptRequests {
		p.requests = slices.Clone(p.requests[len(p.requests)-keptRequests:])
	}
	if len(p.left) > mostLeft {
		p.whole = max(p.whole, p.left[mostLeft/2-1].version)
		p.left = slices.Clone(p.left[mostLeft/2:])
	}
}

// applyLine applies a line, except for its requests.
func (p *picture) applyLine(f *account.Frame, version uint64) {
	if len(f.GoneIntents)+len(f.GoneShipments) > 0 || f.EventsSkipped > 0 {
		p.left = append(p.left, left{version, f.GoneIntents, f.GoneShipments, max(f.EventsSkipped, 0)})
	}
	for _, id := range f.GoneIntents {
		delete(p.intents, id)
	}
	for _, id := range f.GoneShipments {
		delete(p.shipments, id)
	}
	for _, in := range f.Intents {
		old := p.intents[in.ID]
		if in.Version = version; old != nil {
			in.Version = old.Version
		}
		if !reflect.DeepEqual(old, in) {
			in.Version = version
			p.intents[in.ID] = in
		}
	}
	for _, r := range f.Rereads {
		before, ok := p.intents[r.ID]
		if !ok {
			p.leftOut++
			continue
		}
		in := r.Of(before)
		in.Version = version
		p.intents[in.ID] = in
	}
	for _, s := range f.Shipments {
		old := p.shipments[s.ID]
		if s.Version = version; old != nil {
			s.Version = old.Version
		}
		giveBody(s.Latest)
		if !reflect.DeepEqual(old, s) {
			s.Version = version
			p.shipments[s.ID] = s
		}
	}
	for _, e := range f.Events {
		p.event(e, version)
	}
	if f.Whole {
		clear(p.summary)
	}
	account.MergeSummary(p.summary, f.Summary)
	p.quota.Merge(f)
}

func (p *picture) event(e *account.Event, version uint64) {
	e.Raw = bodyOf(e)
	place, known := p.places[e.ID]
	if known = known && place >= p.dropped; known {
		old := p.events[place-p.dropped]
		if e.Version = old.Version; reflect.DeepEqual(old, e) {
			return
		}
	}
	e.Version = version
	if known {
		p.events[place-p.dropped] = e
		return
	}
	p.places[e.ID] = p.dropped + len(p.events)
	p.events = append(p.events, e)
	if len(p.events) > 2*keptEvents {
		cut := len(p.events) - keptEvents
		for _, old := range p.events[:cut] {
			delete(p.places, old.ID)
		}
		p.events = slices.Clone(p.events[cut:])
		p.dropped += cut
	}
}

// changes returns what changed after a version, without the summary; the whole picture
// if nothing is known about that version.
func (p *picture) changes(since, version uint64) account.Changes {
	c := account.Changes{Version: version, Whole: since == 0 || since < p.whole || since > version}
	if c.Whole {
		since = 0
	}
	for _, e := range p.events[max(len(p.events)-keptEvents, 0):] {
		if e.Version > since {
			c.Events = append(c.Events, e)
		}
	}
	for _, r := range p.requests[max(len(p.requests)-keptRequests, 0):] {
		if r.version > since {
			c.Requests = append(c.Requests, r.Exchange)
		}
	}
	for _, in := range p.intents {
		if in.Version > since {
			c.Intents = append(c.Intents, &in.Intent)
		}
	}
	for _, s := range p.shipments {
		if s.Version > since {
			c.Shipments = append(c.Shipments, s)
		}
	}
	slices.SortFunc(c.Intents, func(a, b *account.Intent) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(c.Shipments, func(a, b *account.Shipment) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.ID, b.ID))
	})
	for _, l := range p.left {
		if l.version > since && !c.Whole {
			c.GoneIntents, c.GoneShipments = append(c.GoneIntents, l.intents...), append(c.GoneShipments, l.shipments...)
			c.EventsSkipped += l.skipped
		}
	}
	// Some may have come back.
	c.GoneIntents = slices.DeleteFunc(c.GoneIntents, func(id api.ID) bool { return p.intents[id] != nil })
	c.GoneShipments = slices.DeleteFunc(c.GoneShipments, func(id api.ID) bool { return p.shipments[id] != nil })
	return c
}

// A recording has no bodies. The screen shows bodies made of the recorded fields.

// detail returns everything about an intent, with a body.
func (p *picture) detail(id api.ID) (*account.IntentDetail, bool) {
	in, ok := p.intents[id]
	if !ok || in.Latest == nil {
		return in, ok
	}
	all, latest := *in, *in.Latest
	latest.Raw, _ = json.Marshal(in.Latest)
	all.Latest = &latest
	return &all, true
}

func giveBody(parcel *api.Shipment) {
	if parcel != nil {
		parcel.Raw, _ = json.Marshal(parcel)
	}
}

// bodyOf returns the body of an event in the contract's form.
func bodyOf(e *account.Event) []byte {
	type source struct {
		Type api.SourceType `json:"type"`
		ID   api.ID         `json:"id"`
	}
	body, _ := json.Marshal(struct {
		ID        api.ID        `json:"id"`
		Object    string        `json:"object"`
		Type      api.EventType `json:"type"`
		CreatedAt time.Time     `json:"createdAt,omitzero"`
		Source    source        `json:"source"`
	}{e.ID, "event", e.Type, e.CreatedAt, source{e.SourceType, e.SourceID}})
	return body
}
