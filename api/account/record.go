package account

import (
	"strings"
	"time"

	"tillwatch/api"
)

// intentRecord is the store's own, changing view of an intent: small, because
// there may be a hundred thousand. What leaves the store is a copy, made when
// somebody asks.
type intentRecord struct {
	id          api.ID
	version     uint64
	lastEvent   instant // the newest createdAt of an event
	since       instant
	created     instant
	number      uint32
	known       minute // the earliest moment known of it, for the day's count
	product     api.Text
	latest      uint32 // of its events, counted from 1; it may no longer be kept
	reads       uint16 // answered reads since it entered its state
	parcels     uint16
	floor       int8     // the highest rank that anything has proven; -1 for none
	seen        eventSet // events that were seen
	certainty   Certainty
	state       api.IntentState
	gone        bool // the service answered 404 to the last read
	outstanding bool // an event of it is expected, or was counted as missed
	alertable   bool // it stands in the list of intents that time alone may raise an alert for
	alerts      intentAlerts

	listed   bool        // its shipments were listed
	ordered  bool        // the newest read told of orders
	readRank int8        // of the newest read that is kept
	behind   uint8       // reads in a row that were behind what an event proved
	missing  uint8       // reads in a row that were answered 404
	readAt   instant     // when the newest read that is kept was sent
	newest   instant     // when the newest read was sent, whatever came of it
	total    *api.Money  // what it points at never changes
	line     []Moment    // its timeline; what was handed out of it never changes
	answer   *api.Intent // to the newest read that counts; nil when never read
	merchant api.Text
	answers  uint32 // answered reads of it
	asked    asked  // as the newest read had it
	parcel   uint32 // its newest shipment
}

// eventSet says which of the contract's intent events were seen.
type eventSet uint8

const (
	sawOfferRetrieved eventSet = 1 << iota
	sawOfferFailed
	sawCompleted
	sawOrderFailed
)

func eventBit(t api.EventType) eventSet {
	switch t {
	case api.OfferRetrieved:
		return sawOfferRetrieved
	case api.OfferFailed:
		return sawOfferFailed
	case api.IntentCompleted:
		return sawCompleted
	case api.OrderFailed:
		return sawOrderFailed
	}
	return 0
}

// intentsPerBlock is how many intents lie side by side. They fill whole pages of
// the runtime's.
const intentsPerBlock = 512

// intent finds or begins the record of an intent.
func (s *Store) intent(id api.ID) *intentRecord {
	if r := s.findIntent(id); r != nil {
		return r
	}
	return s.newIntent(id)
}

// findIntent is the record of an intent; nil when it is not known.
func (s *Store) findIntent(id api.ID) *intentRecord { return s.intents[id] }

// newIntent begins the record of an intent that is not known.
func (s *Store) newIntent(id api.ID) *intentRecord {
	clean := api.ScrubID(strings.Clone(string(id))) // it may be a part of an event's body
	if clean != id {
		return s.intent(clean)
	}
	number, r := s.intentBlocks.add()
	r.id, r.number, r.floor, r.readRank = clean, number, -1, -1
	s.intents[clean] = r
	s.intentCounts[""]++
	s.touch(r)
	return r
}

// touch notes that r has changed.
func (s *Store) touch(r *intentRecord) {
	r.version = s.stamp()
	s.intentTouches.add(r.number, r.version)
	s.notice(notice{intent: r})
}

// open reports whether something can still happen to the intent, or whether its
// end has only been reported.
func (r *intentRecord) open() bool { return !r.state.Terminal() || r.certainty != Verified }

// expiresAt is the end of the confirm window: it runs from the creation, while
// the intent may still be confirmed.
func (s *Store) expiresAt(r *intentRecord) time.Time {
	if r.created == 0 || r.state != api.AwaitingConfirmation && r.state != api.RetrievingOffer {
		return time.Time{}
	}
	return r.created.time().Add(s.cfg.ConfirmWindow)
}

// publish copies what a list shows.
func (s *Store) publish(r *intentRecord) *Intent {
	in := &Intent{}
	s.fill(in, r)
	return in
}

// fill copies all that a list shows.
func (s *Store) fill(in *Intent, r *intentRecord) {
	*in = Intent{
		ID: r.id, State: r.state, Certainty: r.certainty, Missing: r.gone,
		Product: r.product, Merchant: r.merchant, Total: r.total,
		Since: r.since.time(), CreatedAt: r.created.time(), ReadAt: s.clock.measured(r.readAt), ExpiresAt: s.expiresAt(r),
		Reads: int(r.answers), Version: r.version,
	}
	if r.answer != nil {
		in.Quantity, in.ReferenceID, in.Failure = r.answer.Quantity, r.answer.ReferenceID, r.answer.Failure
	}
}

// detail copies all of it.
func (s *Store) detail(r *intentRecord) *IntentDetail {
	d := &IntentDetail{Latest: r.answer, Timeline: r.line[:len(r.line):len(r.line)]}
	s.fill(&d.Intent, r)
	if r.parcels > 0 {
		d.Shipments = make([]api.ID, r.parcels)
		at := r.parcel
		for i := len(d.Shipments) - 1; i >= 0; i-- {
			sh := s.shipmentBlocks.at(at)
			d.Shipments[i], at = sh.id, sh.sibling
		}
	}
	return d
}
