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

// So many records at the most are copied while writers wait, and no more once their
// timelines tell of so many moments.
const (
	saveBatch   = 128
	saveMoments = 512
)

// savePicture writes what is worth keeping. The place in the feed is taken first:
// what the picture learns meanwhile is told once more after a restart, and
// changes nothing then.
func (s *Store) savePicture(w io.Writer, cfg SavedConfig) error {
	now := time.Now()
	s.mu.Lock()
	head := s.savedHead(now)
	shipments := s.shipmentBlocks.last
	events := s.events.since(0)
	s.mu.Unlock()
	if cfg.Quota != nil {
		head.Quota = cfg.Quota.Memories(now)
	}

	dropped := map[*intentRecord]bool{}
	over := s.endedBefore(cfg, now)
	encoder := gob.NewEncoder(w)
	return cmp.Or(
		encoder.Encode(&head),
		s.saveIntents(encoder, func(r *intentRecord) bool {
			if r.state.Terminal() && r.since <= over {
				dropped[r] = true
				return false
			}
			return true
		}),
		saveAll(s, encoder, numbersTo(shipments), func(number uint32, part *savedPart) {
			if r := s.shipmentBlocks.at(number); r.intent == nil || !dropped[r.intent] {
				part.Shipments = append(part.Shipments, s.savedShipmentOf(r))
			}
		}),
		saveAll(s, encoder, events, func(ordinal uint64, part *savedPart) {
			if r := s.events.of(ordinal); r != nil {
				part.Events = append(part.Events, r.saved())
			}
		}),
		encoder.Encode(&savedPart{End: true}),
	)
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

// saveIntents writes the intents that are kept.
func (s *Store) saveIntents(encoder *gob.Encoder, keep func(*intentRecord) bool) (err error) {
	var part savedPart
	flush := func() {
		if err == nil && len(part.Intents) > 0 {
			err = encoder.Encode(&part)
		}
		part.Intents = part.Intents[:0]
	}
	s.mu.Lock()
	last := s.intentBlocks.last
	s.mu.Unlock()
	for next := uint32(1); next <= last; {
		s.mu.Lock()
		moments := 0
		for end := min(next+saveBatch, last+1); next < end && moments < saveMoments; next++ {
			if r := s.intentBlocks.at(next); keep(r) {
				part.Intents = append(part.Intents, s.savedIntentOf(r))
				moments += len(r.line)
			}
		}
		s.mu.Unlock()
		flush()
	}
	return err
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
		DayMost: s.dayKnown.most, Refused: s.dayKnown.refused,
	}
	for state, history := range s.pace {
		h.Stays[string(state)] = history.list()
	}
	return h
}

func (s *Store) savedIntentOf(r *intentRecord) savedIntent {
	in := s.detail(r)
	saved := savedIntent{
		ID: string(in.ID), State: string(in.State), Certainty: uint8(in.Certainty),
		Since: r.since, CreatedAt: r.created, ReadAt: r.readAt,
		Missing: in.Missing, Product: string(in.Product), Merchant: string(in.Merchant),
		Total: savedMoneyOf(in.Total), Shipments: stringsOf(in.Shipments), Reads: in.Reads,
		Latest: savedReadOf(in.Latest),
		Floor:  int(r.floor), Newest: r.newest, LastEvent: r.lastEvent, Known: r.known.instant(),
		Seen: uint8(r.seen), StateReads: int(r.reads), Behind: int(r.behind), NotFound: int(r.missing), Listed: r.listed,
	}
	saved.Timeline = make([]savedMoment, len(r.line))
	for i, m := range r.line {
		saved.Timeline[i] = savedMoment{
			What: string(m.What), At: instantOf(m.When), Learnt: instantOf(m.Learnt), How: uint8(m.By()), From: string(m.From), State: string(m.To),
			EventID: string(m.EventID), Type: string(m.Type), Late: m.Late, Total: savedMoneyOf(m.Total), Failure: string(m.Failure),
			Status: string(m.Status), Count: m.Count,
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

func (s *Store) savedShipmentOf(r *shipmentRecord) savedShipment {
	sh := s.publishShipment(r)
	saved := savedShipment{
		ID: string(sh.ID), IntentID: string(sh.IntentID), Product: string(sh.Product), Certainty: uint8(sh.Certainty),
		ReadAt: r.readAt, Newest: r.newest, LastEvent: r.lastEvent,
		Missing: sh.Missing, NotFound: int(r.missing),
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
	return savedEvent{
		Seq: r.seq, ID: string(r.id), Type: string(r.kind), SourceType: string(r.sourceType), SourceID: string(r.source),
		Product: string(r.product), CreatedAt: r.created, Received: r.received,
		Origin: r.origin, Duplicates: int(r.duplicates), Late: r.late, Status: string(r.status),
	}
}
