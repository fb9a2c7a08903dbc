package account

import (
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account/form"
)

// saving writes a picture into a file.
type saving struct {
	out *form.Writer
	at  time.Time
	err error
}

// savePicture writes what is worth keeping as it is at one moment, as one frame.
// Writers of the store do not wait for it: what it writes never changes.
func (s *Store) savePicture(w io.Writer, cfg SavedConfig) error {
	now := time.Now()
	v := saving{out: form.NewWriter(w, gzip.BestSpeed), at: now.UTC()}
	_, err := v.out.Put(form.Begin(form.Header{Kind: form.Picture, Began: now}))
	if err := errors.Join(err, v.out.EndPart()); err != nil {
		return err
	}
	buckets := s.buckets(now)
	s.mu.Lock()
	sum, memory := s.summary(now, buckets), s.memory(now)
	intents, shipments := s.intents.since(0), s.shipments.since(0)
	events, _ := s.events.since(0)
	s.mu.Unlock()
	intents, dropped, since := dropEnded(intents, cfg, now)
	if !sum.Known.IsZero() {
		sum.Known = later(sum.Known, since)
	}
	head, err := newHead(sum, memory)
	if err != nil {
		return err
	}
	shipments = slices.DeleteFunc(shipments, func(sh *Shipment) bool { return dropped[sh.IntentID] })
	if err := v.putGlance(head, intents, shipments, events); err != nil {
		return err
	}
	v.put(head)
	saveAll(&v, intents, func(in *IntentDetail, f *Frame) {
		f.Intents = append(f.Intents, keepIntent(in))
		f.Memory.Intents[in.ID] = in.basis.memory()
	})
	saveAll(&v, shipments, func(sh *Shipment, f *Frame) {
		f.Shipments = append(f.Shipments, keepShipment(sh))
		f.Memory.Shipments[sh.ID] = shipmentMemory{instantOf(sh.newest), instantOf(sh.lastEvent), sh.missing}
	})
	saveAll(&v, events, func(e *Event, f *Frame) { f.Events = append(f.Events, e) })
	v.put(&Frame{})
	return errors.Join(v.err, v.out.EndPart())
}

// newHead is the frame of what is known of the account as a whole, with which the
// picture begins.
func newHead(sum Summary, memory *Memory) (*Frame, error) {
	var teller FrameTeller
	fields, err := teller.newSummary(sum)
	if err != nil {
		return nil, err
	}
	f := Frame{Whole: true, More: true, Summary: fields, Memory: memory}
	teller.tellQuota(&f, &sum)
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

// dropEnded takes out the ended intents that are no longer kept: by their age, and
// where there are too many, the ones that ended first. Those that ended after over
// are kept.
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
	for _, in := range intents {
		if in.State.Terminal() && !in.Since.After(over) {
			dropped[in.ID] = true
		} else {
			kept = append(kept, in)
		}
	}
	return kept, dropped, over
}

// saveAll writes values, many in a line.
func saveAll[V any](v *saving, values []V, save func(V, *Frame)) {
	for batch := range slices.Chunk(values, mostItems) {
		f := Frame{More: true, Memory: &Memory{Intents: map[api.ID]intentMemory{}, Shipments: map[api.ID]shipmentMemory{}}}
		for _, value := range batch {
			save(value, &f)
		}
		v.put(&f)
	}
}

// What is kept is a copy of a value without bodies, tokens and buyers.

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
		ReferenceID: unlessQuoting(in.Buyer, in.ReferenceID), OrderIDs: in.OrderIDs,
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
		out.Offer = &api.Offer{ProductTitle: o.ProductTitle, Cost: o.Cost, AppliedPromoCodes: o.AppliedPromoCodes}
		if option := o.Selected(); option != nil {
			out.Offer.SelectedOptionID, out.Offer.ShippingOptions = option.ID, []api.ShippingOption{*option}
		}
	}
	return out
}

// unlessQuoting is text, or nothing where it repeats something of the buyer:
// merchants' messages and clients' own ids do that.
func unlessQuoting(b *api.Buyer, text api.Text) api.Text {
	const shortest = 3 // less would hit anything
	if b == nil || text == "" {
		return text
	}
	lower := strings.ToLower(string(text))
	for _, personal := range []api.Text{b.FirstName, b.LastName, b.Email, b.Phone, b.Address1, b.Address2, b.City, b.PostalCode} {
		if len(personal) >= shortest && strings.Contains(lower, strings.ToLower(string(personal))) {
			return ""
		}
	}
	return text
}

// keepShipment leaves out where a shipment was seen: in the end that is where its
// buyer lives.
func keepShipment(sh *Shipment) *Shipment {
	if sh.Latest == nil {
		return sh
	}
	out, latest := *sh, *sh.Latest
	latest.TrackingEvents = scansWithoutPlaces(latest.TrackingEvents)
	out.Latest = &latest
	return &out
}
