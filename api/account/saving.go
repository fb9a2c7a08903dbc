package account

import (
	"cmp"
	"encoding/gob"
	"io"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// saveBatch bounds how many records are copied while writers wait.
const saveBatch = 128

// savePicture writes what is worth keeping. The place in the feed is taken first:
// what the picture learns meanwhile is told once more after a restart, and
// changes nothing then.
func (s *Store) savePicture(w io.Writer, cfg SavedConfig) error {
	now := time.Now()
	s.mu.Lock()
	head := s.savedHead(now)
	surplus := s.intentCounts[api.Completed] + s.intentCounts[api.Failed] - cfg.MaxEnded
	intents := s.intentOrder.since(0)
	shipments := s.shipmentOrder.since(0)
	events := s.eventOrder.since(0)
	s.mu.Unlock()
	if cfg.Quota != nil {
		head.Quota = cfg.Quota.Memories(now)
	}
	slices.SortFunc(events, func(a, b *eventRecord) int { return cmp.Compare(a.ordinal, b.ordinal) })

	dropped := map[api.ID]bool{}
	encoder := gob.NewEncoder(w)
	return cmp.Or(
		encoder.Encode(&head),
		saveAll(s, encoder, intents, func(r *intentRecord, part *savedPart) {
			if r.now.State.Terminal() && (surplus > 0 || now.Sub(r.now.Since) > cfg.MaxAge) {
				surplus--
				dropped[r.now.ID] = true
				return
			}
			part.Intents = append(part.Intents, r.saved())
		}),
		saveAll(s, encoder, shipments, func(r *shipmentRecord, part *savedPart) {
			if !dropped[r.now.IntentID] {
				part.Shipments = append(part.Shipments, r.saved())
			}
		}),
		saveAll(s, encoder, events, func(r *eventRecord, part *savedPart) {
			if !r.dropped {
				part.Events = append(part.Events, r.saved())
			}
		}),
		encoder.Encode(&savedPart{End: true}),
	)
}

// saveAll writes records a batch at a time, so that writers never wait long.
func saveAll[R any](s *Store, encoder *gob.Encoder, records []R, save func(R, *savedPart)) error {
	for batch := range slices.Chunk(records, saveBatch) {
		var part savedPart
		s.mu.Lock()
		for _, r := range batch {
			save(r, &part)
		}
		s.mu.Unlock()
		if err := encoder.Encode(&part); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) savedHead(now time.Time) savedHead {
	h := savedHead{
		SavedAt: instantOf(now), Epoch: s.feed.Epoch, Cursor: s.feed.Cursor,
		LastEvent: instantOf(s.lastEvent), LastRead: instantOf(s.lastRead),
		Counters: s.counters, Elsewhere: s.confirms.balance, Confirms: s.confirms.delays, Stays: map[string][]time.Duration{},
	}
	for state, history := range s.pace {
		h.Stays[string(state)] = history.list()
	}
	return h
}

func (r *intentRecord) saved() savedIntent {
	in := &r.now
	saved := savedIntent{
		ID: string(in.ID), State: string(in.State), Certainty: uint8(in.Certainty),
		Since: instantOf(in.Since), CreatedAt: instantOf(in.CreatedAt), ReadAt: instantOf(in.ReadAt),
		Missing: in.Missing, Product: string(in.Product), Merchant: string(in.Merchant),
		Total: savedMoneyOf(in.Total), Shipments: stringsOf(in.Shipments), Reads: in.Reads,
		Latest: savedReadOf(in.Latest),
		Floor:  r.floor, Newest: instantOf(r.newest), LastEvent: instantOf(r.lastEvent), Known: instantOf(r.known),
		Seen: uint8(r.seen), StateReads: r.reads, Behind: r.behind, NotFound: r.missing, Listed: r.listed,
	}
	saved.Timeline = make([]savedMoment, len(in.Timeline))
	for i, m := range in.Timeline {
		saved.Timeline[i] = savedMoment{
			At: instantOf(m.At), Learnt: instantOf(m.Learnt), How: uint8(m.How),
			State: string(m.State), EventID: string(m.EventID), Text: m.Text,
		}
	}
	return saved
}

func savedReadOf(in *api.Intent) *savedRead {
	if in == nil {
		return nil
	}
	saved := &savedRead{
		State: string(in.State), CreatedAt: instantOf(in.CreatedAt),
		ProductURL: string(unlessQuoting(in.Buyer, in.ProductURL)), Quantity: in.Quantity,
		ReferenceID: string(unlessQuoting(in.Buyer, in.ReferenceID)),
		Offer:       savedOfferOf(in.Offer), OrderIDs: stringsOf(in.OrderIDs),
	}
	for _, v := range in.Variants {
		if value := unlessQuoting(in.Buyer, v.Value); value != "" {
			saved.Variants = append(saved.Variants, savedVariant{string(v.Label), string(value)})
		}
	}
	if c := in.Constraints; c != nil {
		saved.Limits = &savedLimits{savedLimit(c.MaxTotalPrice), savedLimit(c.MaxShippingPrice)}
	}
	if in.Payment != nil {
		saved.PaymentType = string(in.Payment.Type)
	}
	if in.Failure != nil {
		saved.FailureCode = string(in.Failure.Code)
		saved.Failure = string(unlessQuoting(in.Buyer, in.Failure.Message))
	}
	return saved
}

func savedLimit(limit *int64) int64 {
	if limit == nil || *limit < 0 {
		return 0
	}
	return *limit + 1
}

func savedOfferOf(o *api.Offer) *savedOffer {
	if o == nil {
		return nil
	}
	saved := &savedOffer{
		ProductTitle: string(o.ProductTitle),
		Subtotal:     savedMoneyOf(o.Cost.Subtotal), Shipping: savedMoneyOf(o.Cost.Shipping), Tax: savedMoneyOf(o.Cost.Tax),
		Discount: savedMoneyOf(o.Cost.Discount), Surcharge: savedMoneyOf(o.Cost.Surcharge), Total: savedMoneyOf(o.Cost.Total),
		PromoCodes: stringsOf(o.AppliedPromoCodes),
	}
	if option := o.Selected(); option != nil {
		saved.Selected = &savedOption{
			ID: string(option.ID), Cost: savedMoneyOf(option.Cost), Discount: savedMoneyOf(option.Discount),
			Earliest: instantOf(option.EarliestDelivery), Latest: instantOf(option.LatestDelivery),
		}
	}
	return saved
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

func (r *shipmentRecord) saved() savedShipment {
	sh := &r.now
	saved := savedShipment{
		ID: string(sh.ID), IntentID: string(sh.IntentID), Product: string(sh.Product), Certainty: uint8(sh.Certainty),
		ReadAt: instantOf(sh.ReadAt), Newest: instantOf(r.newest), LastEvent: instantOf(r.lastEvent),
		Missing: sh.Missing, NotFound: r.missing,
	}
	if latest := sh.Latest; latest != nil {
		saved.Latest = savedParcelOf(latest)
	}
	return saved
}

func savedParcelOf(sh *api.Shipment) *savedParcel {
	saved := &savedParcel{
		Status:    string(sh.Status),
		CreatedAt: instantOf(sh.CreatedAt), UpdatedAt: instantOf(sh.UpdatedAt),
		ShippedAt: instantOf(sh.ShippedAt), Delivered: instantOf(sh.DeliveredAt),
		OrderID: string(sh.MarketplaceOrderID), ExternalID: string(sh.ExternalID),
	}
	if t := sh.Tracking; t != nil {
		saved.Tracking = &savedTracking{string(t.Carrier), string(t.Number), string(t.URL), instantOf(t.Estimated)}
	}
	for _, e := range sh.TrackingEvents {
		saved.Scans = append(saved.Scans, savedScan{string(e.Status), instantOf(e.At)})
	}
	return saved
}

func (r *eventRecord) saved() savedEvent {
	e := r.published
	return savedEvent{
		Seq: e.Seq, ID: string(e.ID), Type: string(e.Type), SourceType: string(e.SourceType), SourceID: string(e.SourceID),
		Product: string(e.Product), CreatedAt: instantOf(e.CreatedAt), Received: instantOf(e.Received),
		Origin: e.Origin, Duplicates: e.Duplicates, Late: e.Late,
	}
}
