package account

import (
	"time"

	"tillwatch/api"
)

// intentRecord is the store's own, changing view of an intent. What leaves the
// store is a copy, made when somebody asks.
type intentRecord struct {
	place entry[*intentRecord]

	now       IntentDetail // Timeline and Shipments grow at their end or are replaced
	floor     int          // the highest rank that anything has proven; -1 for none
	newest    time.Time    // when the newest read was sent, whatever came of it
	lastEvent time.Time    // the newest createdAt of an event
	known     time.Time    // the earliest moment known of it, for the day's count
	seen      eventSet
	events    []*eventRecord // kept ones that still lack the product's name
	expected  []expectation

	reads   int  // answered reads since it entered its state
	behind  int  // reads in a row that were behind what an event proved
	missing int  // reads in a row that were answered 404
	listed  bool // its shipments were listed
}

// publish copies what a list shows.
func (r *intentRecord) publish() *Intent {
	in := r.now.Intent
	in.Version = r.place.version
	return &in
}

// detail copies all of it.
func (r *intentRecord) detail() *IntentDetail {
	in := r.now
	in.Version = r.place.version
	in.Timeline = in.Timeline[:len(in.Timeline):len(in.Timeline)]
	in.Shipments = in.Shipments[:len(in.Shipments):len(in.Shipments)]
	return &in
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

// intent finds or begins the record of an intent.
func (s *Store) intent(id api.ID) *intentRecord {
	if r := s.intents[id]; r != nil {
		return r
	}
	r := &intentRecord{now: IntentDetail{Intent: Intent{ID: id}}, floor: -1}
	r.place.value = r
	s.intents[id] = r
	s.intentCounts[""]++
	s.touch(r)
	return r
}

// touch notes that r has changed.
func (s *Store) touch(r *intentRecord) {
	s.intentOrder.touch(&r.place, s.stamp())
	s.notice(notice{intent: r.now.ID})
}

// countedAs is the key under which a state is counted.
func countedAs(state api.IntentState) api.IntentState {
	if state.Known() {
		return state
	}
	return ""
}
