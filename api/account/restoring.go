package account

import (
	"math"
	"time"

	"tillwatch/api"
)

// restore fills an empty picture. All text passes through the scrubbers once
// more: a file can be written by anybody.
func (s *Store) restore(p *savedPicture) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	s.restoreHead(&p.head)
	for _, part := range p.parts {
		for i := range part.Shipments {
			s.restoreShipment(&part.Shipments[i], now)
		}
	}
	for _, part := range p.parts {
		for i := range part.Intents {
			s.restoreIntent(&part.Intents[i], now)
		}
	}
	for _, part := range p.parts {
		for i := range part.Shipments {
			sh := &part.Shipments[i]
			s.adopt(s.findIntent(api.ScrubID(sh.IntentID)), s.shipments[api.ScrubID(sh.ID)])
		}
	}
	for _, part := range p.parts {
		for i := range part.Events {
			s.restoreEvent(&part.Events[i])
		}
	}
}

func (s *Store) restoreHead(h *savedHead) {
	s.feed.Epoch, s.feed.Cursor, s.feed.Head = h.Epoch, h.Cursor, h.Cursor
	s.lastEvent, s.lastRead = h.LastEvent.time(), h.LastRead.time()
	s.counters = h.Counters
	s.dayKnown.most = h.DayMost
	if h.Refused.At.Before(time.Now()) {
		s.dayKnown.refused = h.Refused
	}
	s.confirms.balance = min(max(h.Elsewhere, -confirmMemory), confirmMemory)
	for _, delay := range h.Confirms {
		s.confirms.add(min(max(delay, 0), neverConfirmed))
	}
	for state, stays := range h.Stays {
		for _, stay := range stays {
			s.recordStay(stateFrom(state), stay)
		}
	}
}

func stateFrom(text string) api.IntentState { return api.IntentState(api.Scrub(text)) }

func (s *Store) restoreIntent(saved *savedIntent, now time.Time) {
	id := api.ScrubID(saved.ID)
	if s.findIntent(id) != nil {
		return
	}
	r := s.intent(id)
	s.setState(r, stateFrom(saved.State))
	r.certainty, r.gone = Certainty(saved.Certainty), saved.Missing
	r.since, r.created, r.readAt = saved.Since, saved.CreatedAt, saved.ReadAt
	r.product, r.merchant = api.Scrub(saved.Product), api.Scrub(saved.Merchant)
	r.answers = uint32(max(saved.Reads, 0))
	r.total = saved.Total.money()
	if read := saved.Latest; read != nil {
		r.answer = read.intent(id)
		r.readRank, r.ordered = int8(stateFrom(read.State).Rank()), len(read.OrderIDs) > 0
	}
	for _, id := range saved.Shipments {
		s.adopt(r, s.shipments[api.ScrubID(id)])
	}
	for _, m := range saved.Timeline {
		s.restoreMoment(r, &m)
	}
	r.floor = int8(min(max(saved.Floor, r.state.Rank()), api.Completed.Rank()))
	// A clock that was set back must not make the past newer than what is read now.
	r.newest, r.lastEvent = min(saved.Newest, s.clock.instant(now)), saved.LastEvent
	r.seen, r.listed, r.reads = eventSet(saved.Seen), saved.Listed, uint16(min(max(saved.StateReads, 0), math.MaxUint16))
	r.behind, r.missing = inARow(saved.Behind), inARow(saved.NotFound)
	s.knownSince(r, minuteOf(saved.Known))
	s.touch(r)
	s.judgeIntent(r, now)
}

// adopt ties a restored shipment to its intent, if both are there.
func (s *Store) adopt(in *intentRecord, sh *shipmentRecord) {
	if in == nil || sh == nil || sh.intent != nil {
		return
	}
	sh.intent, sh.sibling, in.parcel = in, in.parcel, sh.number
	in.parcels++
}

func inARow(saved int) uint8 { return uint8(min(max(saved, 0), mostInARow)) }

func (s *Store) restoreMoment(r *intentRecord, saved *savedMoment) {
	m := Moment{
		What: What(saved.What), From: stateFrom(saved.From), To: stateFrom(saved.State), Type: api.EventType(api.Scrub(saved.Type)),
		Late: saved.Late, Total: saved.Total.money(), Failure: api.FailureCode(api.Scrub(saved.Failure)),
		Status: api.ShipmentStatus(api.Scrub(saved.Status)), Count: max(saved.Count, 0),
	}
	if m.What == "" {
		m = Earlier(Learnt(saved.How), m.To)
	}
	m.When, m.Learnt, m.EventID = saved.At.time(), saved.Learnt.time(), api.ScrubID(saved.EventID)
	if m.EventID == "" || !r.remembers(m.EventID) {
		s.remember(r, m)
	}
}

func (saved *savedRead) intent(id api.ID) *api.Intent {
	in := &api.Intent{
		ID: id, State: stateFrom(saved.State), CreatedAt: saved.CreatedAt.time(),
		ProductURL: api.Scrub(saved.ProductURL), Quantity: saved.Quantity, ReferenceID: api.Scrub(saved.ReferenceID),
		Offer: saved.Offer.offer(), OrderIDs: textsFrom(saved.OrderIDs),
	}
	for _, v := range saved.Variants {
		in.Variants = append(in.Variants, api.VariantSelection{Label: api.Scrub(v.Label), Value: api.Scrub(v.Value)})
	}
	if saved.Limits != nil {
		in.Constraints = &api.Constraints{MaxTotalPrice: limitFrom(saved.Limits.Total), MaxShippingPrice: limitFrom(saved.Limits.Shipping)}
	}
	if saved.PaymentType != "" {
		in.Payment = &api.PaymentMethod{Type: api.PaymentType(api.Scrub(saved.PaymentType))}
	}
	if saved.FailureCode != "" || saved.Failure != "" {
		in.Failure = &api.FailureReason{Code: api.FailureCode(api.Scrub(saved.FailureCode)), Message: api.Scrub(saved.Failure)}
	}
	return in
}

func limitFrom(saved int64) *int64 {
	if saved <= 0 {
		return nil
	}
	limit := saved - 1
	return &limit
}

func (saved *savedOffer) offer() *api.Offer {
	if saved == nil {
		return nil
	}
	o := &api.Offer{
		ProductTitle: api.Scrub(saved.ProductTitle),
		Cost: api.Cost{
			Subtotal: saved.Subtotal.money(), Shipping: saved.Shipping.money(), Tax: saved.Tax.money(),
			Discount: saved.Discount.money(), Surcharge: saved.Surcharge.money(), Total: saved.Total.money(),
		},
		AppliedPromoCodes: textsFrom(saved.PromoCodes),
	}
	if option := saved.Selected; option != nil {
		o.SelectedOptionID = api.Scrub(option.ID)
		o.ShippingOptions = []api.ShippingOption{{
			ID: o.SelectedOptionID, Cost: option.Cost.money(), Discount: option.Discount.money(),
			EarliestDelivery: option.Earliest.time(), LatestDelivery: option.Latest.time(),
		}}
	}
	return o
}

func (s *Store) restoreShipment(saved *savedShipment, now time.Time) {
	id := api.ScrubID(saved.ID)
	if s.shipments[id] != nil {
		return
	}
	r := s.shipment(id)
	r.product, r.certainty, r.gone = api.Scrub(saved.Product), Certainty(saved.Certainty), saved.Missing
	r.readAt, r.missing = saved.ReadAt, inARow(saved.NotFound)
	r.newest, r.lastEvent = min(saved.Newest, s.clock.instant(now)), saved.LastEvent
	if saved.Latest != nil {
		latest := saved.Latest.shipment(id, api.ScrubID(saved.IntentID))
		r.answer, r.status, r.updated = latest, latest.Status, s.clock.instant(latest.UpdatedAt)
	}
	if status := r.status; status != "" {
		s.shipmentCounts[""]--
		if s.shipmentCounts[""] == 0 {
			delete(s.shipmentCounts, "")
		}
		s.shipmentCounts[status]++
	}
	s.touchShipment(r)
}

func (saved *savedParcel) shipment(id, intent api.ID) *api.Shipment {
	sh := &api.Shipment{
		ID: id, IntentID: intent, Status: api.ShipmentStatus(api.Scrub(saved.Status)),
		CreatedAt: saved.CreatedAt.time(), UpdatedAt: saved.UpdatedAt.time(),
		ShippedAt: saved.ShippedAt.time(), DeliveredAt: saved.Delivered.time(),
		MarketplaceOrderID: api.Scrub(saved.OrderID), ExternalID: api.Scrub(saved.ExternalID),
	}
	if t := saved.Tracking; t != nil {
		sh.Tracking = &api.Tracking{Carrier: api.Scrub(t.Carrier), Number: api.Scrub(t.Number), URL: api.Scrub(t.URL), Estimated: t.Estimated.time()}
	}
	for _, scan := range saved.Scans {
		sh.TrackingEvents = append(sh.TrackingEvents, api.TrackingEvent{Status: api.ShipmentStatus(api.Scrub(scan.Status)), At: scan.At.time()})
	}
	return sh
}

func (s *Store) restoreEvent(saved *savedEvent) {
	id := api.ScrubID(saved.ID)
	if s.events.kept[id] != nil {
		return
	}
	source := api.EventSource{ID: api.ScrubID(saved.SourceID), Type: api.SourceType(api.Scrub(saved.SourceType))}
	in := s.intentOf(&source)
	r := s.events.add(id, s.stamp())
	*r = eventRecord{
		ordinal: r.ordinal, seq: saved.Seq, epoch: uint32(s.epoch), created: saved.CreatedAt, received: saved.Received,
		id: id, source: source.ID, kind: api.EventType(api.Scrub(saved.Type)), sourceType: source.Type,
		product: api.Scrub(saved.Product), origin: string(api.Scrub(saved.Origin)),
		duplicates: uint32(max(saved.Duplicates, 0)), late: saved.Late, status: api.ShipmentStatus(api.Scrub(saved.Status)),
		lined: in != nil && in.remembers(id),
	}
	switch r.sourceType {
	case api.SourceIntent:
		if in != nil {
			r.earlier, in.latest = in.latest, uint32(r.ordinal)+1
		}
	case api.SourceShipment:
		if sh := s.shipments[r.source]; sh != nil {
			r.earlier, sh.latest = sh.latest, uint32(r.ordinal)+1
		}
	}
}

// Earlier is a moment of which an earlier version kept a sentence: only the way and
// the state are known of it.
func Earlier(how Learnt, state api.IntentState) Moment {
	m := Moment{What: EventMissed, To: state}
	switch {
	case how == ByEvent:
		m.What = EventTold
		for _, t := range []api.EventType{api.OfferRetrieved, api.IntentCompleted, api.OrderFailed} {
			if proven, _ := t.ProvenState(); proven == state {
				m.Type = t
			}
		}
	case how == ByConfirm:
		m.What = ConfirmTaken
	case how == ByRead && state != "":
		m.What = ReadShowed
	case how == ByRead:
		m.What = Unchanged
	}
	return m
}
