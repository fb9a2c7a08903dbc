package recording

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Bounds of what a picture keeps; they are those of what a store keeps.
const (
	keptEvents   = 5000
	keptRequests = 500
)

// decoded is one change, read from its lines.
type decoded struct {
	at        time.Duration
	picture   bool
	skipped   int
	leftOut   int
	intents   []*account.IntentDetail
	again     []againForm
	shipments []*account.Shipment
	events    []*account.Event
	requests  []api.Exchange
	summaries []json.RawMessage
}

// decode reads the lines of a change. What of it cannot be read is left out and
// counted: the rest of the picture is worth more than none.
func decode(lines []byte) decoded {
	var d decoded
	for line := range bytes.Lines(lines) {
		object, err := openLine(bytes.TrimSuffix(line, []byte("\n")))
		var form lineForm
		if err == nil {
			err = json.Unmarshal(object, &form)
		}
		if err != nil {
			d.leftOut++
			continue
		}
		d.at, d.picture = time.Duration(form.At)*time.Millisecond, d.picture || form.Picture
		d.skipped += max(form.Skipped, 0)
		d.leftOut += max(form.LeftOut, 0)
		d.intents = appendDecoded(&d, d.intents, form.Intents, decodeIntent)
		d.again = append(d.again, form.Again...)
		d.shipments = appendDecoded(&d, d.shipments, form.Shipments, decodeShipment)
		d.events = appendDecoded(&d, d.events, form.Events, decodeEvent)
		d.requests = appendDecoded(&d, d.requests, form.Requests, decodeRequest)
		if len(form.Summary) > 0 {
			d.summaries = append(d.summaries, form.Summary)
		}
	}
	return d
}

func appendDecoded[T any](d *decoded, list []T, raws []json.RawMessage, decode func(json.RawMessage) (T, error)) []T {
	for _, raw := range raws {
		item, err := decode(raw)
		if err != nil {
			d.leftOut++
			continue
		}
		list = append(list, item)
	}
	return list
}

// picture is what is known at a moment of a recording.
type picture struct {
	intents   map[api.ID]*account.IntentDetail
	shipments map[api.ID]*account.Shipment
	events    []*account.Event // the newest, oldest first
	places    map[api.ID]int   // of events, counted from the first there ever was
	dropped   int
	requests  []api.Exchange // the newest, oldest first
	summary   account.Summary
	leftOut   int
}

func newPicture() *picture {
	return &picture{intents: map[api.ID]*account.IntentDetail{}, shipments: map[api.ID]*account.Shipment{}, places: map[api.ID]int{}}
}

// apply takes a change over and returns it as a screen is fed it.
func (p *picture) apply(d *decoded, version uint64) account.Changes {
	c := account.Changes{Version: version, EventsSkipped: d.skipped}
	for _, in := range d.intents {
		in.Version = version
		p.intents[in.ID] = in
		c.Intents = append(c.Intents, &in.Intent)
	}
	for _, a := range d.again {
		before, ok := p.intents[api.ScrubID(a.ID)]
		if !ok {
			p.leftOut++
			continue
		}
		in := *before
		in.ReadAt, in.Reads, in.Version = time.Time(a.ReadAt), a.Reads, version
		p.intents[in.ID] = &in
		c.Intents = append(c.Intents, &in.Intent)
	}
	for _, s := range d.shipments {
		s.Version = version
		p.shipments[s.ID] = s
	}
	for _, e := range d.events {
		e.Version = version
		p.event(e)
	}
	p.requests = append(p.requests, d.requests...)
	if len(p.requests) > 2*keptRequests {
		p.requests = slices.Clone(p.requests[len(p.requests)-keptRequests:])
	}
	for _, raw := range d.summaries {
		sum, err := mergeSummary(p.summary, raw)
		if err != nil {
			p.leftOut++
		}
		p.summary = sum
	}
	p.leftOut += d.leftOut
	c.Shipments, c.Events, c.Requests, c.Summary = d.shipments, d.events, d.requests, p.summary
	return c
}

func (p *picture) event(e *account.Event) {
	if place, ok := p.places[e.ID]; ok && place >= p.dropped {
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

// news leaves in a whole picture only what this one does not show: a chapter
// begins with a picture that whoever plays on has mostly seen.
func (p *picture) news(d *decoded) *decoded {
	out := &decoded{at: d.at, leftOut: d.leftOut, summaries: d.summaries}
	for _, in := range d.intents {
		if old, ok := p.intents[in.ID]; !ok || !same(encodeIntent, old, in) {
			out.intents = append(out.intents, in)
		}
	}
	for _, s := range d.shipments {
		if old, ok := p.shipments[s.ID]; !ok || !same(encodeShipment, old, s) {
			out.shipments = append(out.shipments, s)
		}
	}
	for _, e := range d.events {
		place, ok := p.places[e.ID]
		if !ok || !same(encodeEvent, p.events[place-p.dropped], e) {
			out.events = append(out.events, e)
		}
	}
	var newest time.Time
	for i := range p.requests {
		if p.requests[i].Sent.After(newest) {
			newest = p.requests[i].Sent
		}
	}
	for _, e := range d.requests {
		if e.Sent.After(newest) {
			out.requests = append(out.requests, e)
		}
	}
	return out
}

func same[T any](encode func(T) (json.RawMessage, error), a, b T) bool {
	first, err := encode(a)
	if err != nil {
		return false
	}
	second, err := encode(b)
	return err == nil && bytes.Equal(first, second)
}

// all is the whole picture as a screen is fed it.
func (p *picture) all(version uint64) account.Changes {
	c := account.Changes{Version: version, Whole: true, Summary: p.summary}
	c.Events = slices.Clone(p.events[max(len(p.events)-keptEvents, 0):])
	c.Requests = slices.Clone(p.requests[max(len(p.requests)-keptRequests, 0):])
	for _, in := range p.intents {
		c.Intents = append(c.Intents, &in.Intent)
	}
	for _, s := range p.shipments {
		c.Shipments = append(c.Shipments, s)
	}
	return c
}
