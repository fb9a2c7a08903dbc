package account

import (
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
		for i := range part.Events {
			s.restoreEvent(&part.Events[i])
		}
	}
}

func (s *Store) restoreHead(h *savedHead) {
	s.feed.Epoch, s.feed.Cursor, s.feed.Head = h.Epoch, h.Cursor, h.Cursor
	s.lastEvent, s.lastRead = h.LastEvent.time(), h.LastRead.time()
	s.counters = h.Counters
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
	if s.intents[id] != nil {
		return
	}
	r := s.intent(id)
	r.now.Intent = Intent{
		ID: id, State: stateFrom(saved.State), Certainty: Certainty(saved.Certainty),
		Since: saved.Since.time(), CreatedAt: saved.CreatedAt.time(), ReadAt: saved.ReadAt.time(),
		Missing: saved.Missing, Product: api.Scrub(saved.Product), Merchant: api.Scrub(saved.Merchant),
		Total: saved.Total.money(), Reads: saved.Reads,
	}
	s.intentCounts[""]--
	s.intentCounts[countedAs(r.now.State)]++
	if saved.Latest != nil {
		latest := saved.Latest.intent(id)
		r.now.Latest, r.now.Quantity, r.now.ReferenceID, r.now.Failure = latest, latest.Quantity, latest.ReferenceID, latest.Failure
	}
	for _, id := range saved.Shipments {
		if id := api.ScrubID(id); s.shipments[id] != nil {
			r.now.Shipments = append(r.now.Shipments, id)
		}
	}
	r.now.Timeline = make([]Moment, len(saved.Timeline))
	for i, m := range saved.Timeline {
		r.now.Timeline[i] = Moment{
			At: m.At.time(), Learnt: m.Learnt.time(), How: Learnt(m.How),
			State: stateFrom(m.State), EventID: api.ScrubID(m.EventID), Text: string(api.Scrub(m.Text)),
		}
	}
	r.floor = min(max(saved.Floor, r.now.State.Rank()), api.Completed.Rank())
	r.newest, r.lastEvent = earlier(saved.Newest.time(), now), saved.LastEvent.time()
	r.seen, r.reads, r.behind, r.missing, r.listed = eventSet(saved.Seen), saved.StateReads, saved.Behind, saved.NotFound, saved.Listed
	s.knownSince(r, saved.Known.time())
	s.refreshExpiry(r)
	s.touch(r)
	s.judgeIntent(r, now)
}

// earlier keeps a clock that was set back from making the past look newer than
// what is read now.
func earlier(t, now time.Time) time.Time {
	if t.After(now) {
		return now
	}
	return t
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
	r.now = Shipment{
		ID: id, IntentID: api.ScrubID(saved.IntentID), Product: api.Scrub(saved.Product),
		Certainty: Certainty(saved.Certainty), ReadAt: saved.ReadAt.time(), Missing: saved.Missing,
	}
	r.newest, r.lastEvent, r.missing = earlier(saved.Newest.time(), now), saved.LastEvent.time(), saved.NotFound
	if saved.Latest != nil {
		r.now.Latest = saved.Latest.shipment(&r.now)
	}
	if status := r.now.Status(); status != "" {
		s.shipmentCounts[""]--
		if s.shipmentCounts[""] == 0 {
			delete(s.shipmentCounts, "")
		}
		s.shipmentCounts[status]++
	}
	s.touchShipment(r)
}

func (saved *savedParcel) shipment(of *Shipment) *api.Shipment {
	sh := &api.Shipment{
		ID: of.ID, IntentID: of.IntentID, Status: api.ShipmentStatus(api.Scrub(saved.Status)),
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
	hash, _, known := s.events.find(id)
	if known {
		return
	}
	version := s.stamp()
	r := &eventRecord{epoch: s.epoch, first: Event{
		Seq: saved.Seq, ID: id, Type: api.EventType(api.Scrub(saved.Type)),
		SourceType: api.SourceType(api.Scrub(saved.SourceType)), SourceID: api.ScrubID(saved.SourceID),
		Product: api.Scrub(saved.Product), CreatedAt: saved.CreatedAt.time(), Received: saved.Received.time(),
		Origin: string(api.Scrub(saved.Origin)), Duplicates: saved.Duplicates, Late: saved.Late, Version: version,
	}}
	r.place.value, r.published = r, &r.first
	if dropped := s.events.add(hash, r, version); dropped != nil {
		s.eventOrder.remove(&dropped.place)
	}
	s.eventOrder.touch(&r.place, version)
	if r.first.Product != "" {
		return
	}
	switch r.first.SourceType {
	case api.SourceIntent:
		if in := s.intents[r.first.SourceID]; in != nil {
			in.events = append(in.events, r)
		}
	case api.SourceShipment:
		if sh := s.shipments[r.first.SourceID]; sh != nil {
			sh.events = append(sh.events, r)
		}
	}
}
