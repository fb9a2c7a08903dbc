package account

import (
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account/form"
)

// saving writes a picture to a file.
type saving struct {
	out *form.Writer
	at  time.Time
	err error
}

// content is what a picture of one moment holds.
type content struct {
	summary   Summary
	memory    *Memory
	intents   []*IntentDetail
	shipments []*Shipment
	events    []*Event
	ahead     time.Duration // how far the clock is ahead: so much of each age is not true
}

// contentAt returns the content of the store. Its values never change, so it may be written without the lock.
func (s *Store) contentAt(now time.Time) content {
	buckets := s.buckets(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	events, _ := s.events.since(0)
	return content{
		summary: s.summary(now, buckets), memory: s.memory(now),
		intents: s.intents.since(0), shipments: s.shipments.since(0), events: events,
		ahead: max(s.health.clock.ahead, 0),
	}
}

// savePicture writes the picture of one moment as one frame, without what is not worth keeping.
func (s *Store) savePicture(w io.Writer, cfg SavedConfig) error {
	now := time.Now()
	v := saving{out: form.NewWriter(w, gzip.BestSpeed), at: now.UTC()}
	_, err := v.out.Put(form.Begin(form.Header{Kind: form.Picture, Began: now}))
	if err := errors.Join(err, v.out.EndPart()); err != nil {
		return err
	}
	c := s.contentAt(now)
	cfg.MaxAge += c.ahead
	intents, dropped, since := dropEnded(c.intents, cfg, now)
	if !c.summary.Known.IsZero() {
		c.summary.Known = later(c.summary.Known, since)
	}
	head, err := newHead(c.summary, c.memory)
	if err != nil {
		return err
	}
	shipments := slices.DeleteFunc(c.shipments, func(sh *Shipment) bool { return dropped[sh.IntentID] })
	v.put(head)
	saveAll(&v, intents, func(in *IntentDetail, f *Frame) {
		f.Intents = append(f.Intents, keepIntent(in))
		f.Memory.Intents[in.ID] = in.basis.memory()
	})
	saveAll(&v, shipments, func(sh *Shipment, f *Frame) {
		f.Shipments = append(f.Shipments, keepShipment(sh))
		f.Memory.Shipments[sh.ID] = shipmentMemory{instantOf(sh.newest), instantOf(sh.lastEvent), sh.missing}
	})
	saveAll(&v, c.events, func(e *Event, f *Frame) { f.Events = append(f.Events, e) })
	v.put(&Frame{})
	return errors.Join(v.err, v.out.EndPart())
}

// newHead returns the first line of a picture: what is known of the account as a whole.
func newHead(sum Summary, memory *Memory) (*Frame, error) {
	var frames FrameWriter
	fields, err := frames.newSummary(sum)
	if err != nil {
		return nil, err
	}
	f := Frame{Whole: true, More: true, Summary: fields, Memory: memory}
	frames.addQuota(&f, &sum)
	return &f, nil
}

// put writes a line, unless an earlier one failed.
func (v *saving) put(f *Frame) {
	if v.err == nil {
		f.At = v.at
		v.err = putFrame(f, func(f *Frame) error {
			_, err := v.out.Put(f)
			return err
		})
	}
}

// dropEnded removes ended intents that are too old, and if there are still too many, those that ended first. It
// keeps those that ended after over.
func dropEnded(intents []*IntentDetail, cfg SavedConfig, now time.Time) (kept []*IntentDetail, dropped map[api.ID]bool, over time.Time) {
	over = now.Add(-cfg.MaxAge).UTC()
	var ended []time.Time
	for _, in := range intents {
		if in.State.Terminal() && in.Since.After(over) {
			ended = append(ended, in.Since)
		}
	}
	if surplus := len(ended) - cfg.MaxEnded; surplus > 0 {
		slices.SortFunc(ended, time.Time.Compare)
		over = ended[surplus-1]
	}
	dropped = map[api.ID]bool{}
	kept = slices.DeleteFunc(intents, func(in *IntentDetail) bool {
		if in.State.Terminal() && !in.Since.After(over) {
			dropped[in.ID] = true
		}
		return dropped[in.ID]
	})
	return kept, dropped, over
}

// saveAll writes values, several to a line.
func saveAll[V any](v *saving, values []V, save func(V, *Frame)) {
	for batch := range slices.Chunk(values, mostItems) {
		f := Frame{More: true, Memory: &Memory{Intents: map[api.ID]intentMemory{}, Shipments: map[api.ID]shipmentMemory{}}}
		for _, value := range batch {
			save(value, &f)
		}
		v.put(&f)
	}
}

// The saved values are copies without bodies, tokens and buyers.

func keepIntent(in *IntentDetail) *IntentDetail {
	if in.Latest == nil {
		return in
	}
	out := *in
	out.Latest = keepOrder(in.Latest)
	out.ReferenceID, out.Failure = out.Latest.ReferenceID, out.Latest.Failure
	return &out
}

func keepOrder(in *api.Intent) *api.Intent {
	out := &api.Intent{
		ID: in.ID, State: in.State, CreatedAt: in.CreatedAt, ProductURL: unlessQuoting(in.Buyer, in.ProductURL), Quantity: in.Quantity,
		ReferenceID: unlessQuoting(in.Buyer, in.ReferenceID), PromoCodes: in.PromoCodes, OrderIDs: in.OrderIDs,
	}
	for _, v := range in.Variants {
		if value := unlessQuoting(in.Buyer, v.Value); value != "" {
			out.Variants = append(out.Variants, api.VariantSelection{Label: v.Label, Value: value})
		}
	}
	if c := in.Constraints; c != nil {
		out.Constraints = &api.Constraints{MaxTotalPrice: c.MaxTotalPrice, MaxShippingPrice: c.MaxShippingPrice}
	}
	if in.Payment != nil && in.Payment.Type != "" {
		out.Payment = &api.PaymentMethod{Type: in.Payment.Type}
	}
	if f := in.Failure; f != nil {
		out.Failure = &api.FailureReason{Code: f.Code, Message: unlessQuoting(in.Buyer, f.Message)}
	}
	if o := in.Offer; o != nil {
		out.Offer = &api.Offer{ProductTitle: o.ProductTitle, Cost: o.Cost, SelectedOptionID: o.SelectedOptionID, AppliedPromoCodes: o.AppliedPromoCodes}
		if option := o.Selected(); option != nil {
			kept := *option
			kept.Label = unlessQuoting(in.Buyer, kept.Label)
			out.Offer.ShippingOptions = []api.ShippingOption{kept}
		}
	}
	return out
}

// unlessQuoting returns text, or "" if it quotes the buyer.
func unlessQuoting(b *api.Buyer, text api.Text) api.Text {
	if b.QuotedIn(text) {
		return ""
	}
	return text
}

// keepShipment leaves out where a shipment was scanned: the last place is where the buyer lives.
func keepShipment(sh *Shipment) *Shipment {
	if sh.Latest == nil {
		return sh
	}
	out, latest := *sh, *sh.Latest
	latest.TrackingEvents = scansWithoutPlaces(latest.TrackingEvents)
	out.Latest = &latest
	return &out
}
