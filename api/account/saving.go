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

// So many records at the most are copied while writers wait, and no more once their
// timelines tell of so many moments.
const (
	saveBatch   = mostItems
	saveMoments = 512
)

// saving writes a picture into a file.
type saving struct {
	store *Store
	out   *form.Writer
	at    time.Time
	over  instant // ended intents up to it are not kept
	err   error
}

// savePicture writes what is worth keeping, as one frame. The place in the feed is
// taken first: what the picture learns meanwhile is told once more after a restart,
// and changes nothing then.
func (s *Store) savePicture(w io.Writer, cfg SavedConfig) error {
	now := time.Now()
	v := saving{store: s, out: form.NewWriter(w, gzip.BestSpeed), at: now.UTC()}
	_, err := v.out.Put(form.Begin(form.Header{Kind: form.Picture, Began: now}))
	if err := errors.Join(err, v.out.EndPart()); err != nil {
		return err
	}
	if err := v.putHead(cfg, now); err != nil {
		return err
	}
	s.mu.Lock()
	shipments, events := s.shipmentBlocks.last, s.events.since(0)
	s.mu.Unlock()
	v.over = s.endedBefore(cfg, now)
	dropped := v.putIntents()
	saveAll(&v, numbersTo(shipments), func(number uint32, f *Frame) {
		if r := s.shipmentBlocks.at(number); r.intent == nil || !dropped[r.intent] {
			f.Shipments = append(f.Shipments, keepShipment(s.publishShipment(r)))
			f.Memory.Shipments[r.id] = shipmentMemory{r.newest, r.lastEvent, int(r.missing)}
		}
	})
	saveAll(&v, events, func(ordinal uint64, f *Frame) {
		if r := s.events.of(ordinal); r != nil {
			e := &Event{}
			s.fillEvent(e, r)
			f.Events = append(f.Events, e)
		}
	})
	v.put(&Frame{})
	return errors.Join(v.err, v.out.EndPart())
}

// putHead writes what is known of the account as a whole.
func (v *saving) putHead(cfg SavedConfig, now time.Time) error {
	s := v.store
	sum := s.Summary()
	s.mu.Lock()
	sum.Feed, sum.Events, sum.LastEvent, sum.LastRead = s.feed, s.counters, s.lastEvent, s.lastRead
	memory := s.memory()
	s.mu.Unlock()
	if cfg.Quota != nil {
		memory.Quota = cfg.Quota.Memories(now)
	}
	var teller FrameTeller
	fields, err := teller.newSummary(sum)
	if err != nil {
		return err
	}
	f := Frame{Whole: true, More: true, Summary: fields, Memory: memory}
	f.Buckets, f.AllBuckets = teller.newBuckets(sum.Quota)
	v.put(&f)
	return v.err
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

// endedBefore is the moment up to which ended intents are no longer kept: by
// their age, and where there are too many, the ones that ended first.
func (s *Store) endedBefore(cfg SavedConfig, now time.Time) instant {
	over := s.clock.instant(now.Add(-cfg.MaxAge))
	var ended []instant
	each(s, &s.intentBlocks, doNothing, func(r *intentRecord) {
		if r.state.Terminal() && r.since > over {
			ended = append(ended, r.since)
		}
	})
	if surplus := len(ended) - cfg.MaxEnded; surplus > 0 {
		slices.Sort(ended)
		over = ended[surplus-1]
	}
	return over
}

// putIntents writes the intents that are kept and returns the others.
func (v *saving) putIntents() (dropped map[*intentRecord]bool) {
	s := v.store
	dropped = map[*intentRecord]bool{}
	s.mu.Lock()
	last := s.intentBlocks.last
	s.mu.Unlock()
	for next := uint32(1); next <= last; {
		f := Frame{More: true, Memory: &Memory{Intents: map[api.ID]intentMemory{}}}
		s.mu.Lock()
		moments := 0
		for end := min(next+saveBatch, last+1); next < end && moments < saveMoments; next++ {
			r := s.intentBlocks.at(next)
			if r.state.Terminal() && r.since <= v.over {
				dropped[r] = true
				continue
			}
			f.Intents = append(f.Intents, keepIntent(s.detail(r)))
			f.Memory.Intents[r.id] = s.intentMemory(r)
			moments += len(r.line)
		}
		s.mu.Unlock()
		v.put(&f)
	}
	return dropped
}

// numbersTo are the numbers of records up to the last.
func numbersTo(last uint32) []uint32 {
	numbers := make([]uint32, last)
	for i := range numbers {
		numbers[i] = uint32(i) + 1
	}
	return numbers
}

// saveAll writes records a batch at a time, so that writers never wait long.
func saveAll[R any](v *saving, records []R, save func(R, *Frame)) {
	for batch := range slices.Chunk(records, saveBatch) {
		f := Frame{More: true, Memory: &Memory{Shipments: map[api.ID]shipmentMemory{}}}
		v.store.mu.Lock()
		for _, r := range batch {
			save(r, &f)
		}
		v.store.mu.Unlock()
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

// keepShipment leaves out where a parcel was seen: in the end that is where its
// buyer lives.
func keepShipment(sh *Shipment) *Shipment {
	if sh.Latest != nil {
		parcel := *sh.Latest
		parcel.TrackingEvents = scansWithoutPlaces(parcel.TrackingEvents)
		sh.Latest = &parcel
	}
	return sh
}
