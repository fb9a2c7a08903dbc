package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"tillwatch/api"
)

// Order describes an intent to make without the API, with a chosen fate. It charges no bucket.
type Order struct {
	ProductURL  string          `json:"productUrl"` // default: a random product of the catalogue
	Quantity    int             `json:"quantity"`   // default 1
	ReferenceID string          `json:"referenceId"`
	State       api.IntentState `json:"state"` // the intent is moved to this state at once; "": it starts as usual
	Fate
}

// Fate decides what happens to an intent. For zero fields the product URL and the simulator's timings decide;
// durations are exact, at speed 1.
type Fate struct {
	Failure      api.FailureCode `json:"failure,omitempty"`      // "": it completes once it is confirmed
	WhilePlacing bool            `json:"whilePlacing,omitempty"` // it fails while the order is placed
	OfferAfter   time.Duration   `json:"offerAfter,omitempty"`   // duration of retrieving the offer
	PlacingAfter time.Duration   `json:"placingAfter,omitempty"` // duration of placing the order
	ConfirmAfter time.Duration   `json:"confirmAfter,omitempty"` // from the offer until it confirms itself; 0: never
	Purchase     bool            `json:"purchase,omitempty"`     // in one step, without awaiting_confirmation

	legsBy   time.Time // of the history: the first legs of its shipments happen before this time
	legsDone int       // how many legs that are
}

// intent is a checkout intent. Only its state changes, and what depends on the state.
type intent struct {
	keptIntent
	created time.Time
	number  uint64 // by creation, from 1
	moving  int    // number of its shipments that are not over
}

// over reports whether nothing will happen to an intent and its shipments.
func (in *intent) over() bool { return in.State.Terminal() && in.Unshipped == 0 && in.moving == 0 }

// keptIntent is the part of an intent that a snapshot keeps.
type keptIntent struct {
	intentWire `json:"intent"`
	Fate       Fate         `json:"fate"`
	Payment    *paymentWire `json:"payment,omitempty"`   // chosen; shown from awaiting_confirmation on
	Due        time.Time    `json:"due,omitzero"`        // when its next step happens by itself; zero: there is none
	Unshipped  int          `json:"unshipped,omitempty"` // number of shipments to come
	Parcels    uint64       `json:"parcels,omitempty"`   // number of shipments so far
	Orders     int          `json:"orders,omitempty"`    // number of orders placed
}

// create makes an intent with a chosen fate.
func (s *Simulator) create(o Order) (*intent, error) {
	kind, known := failureKinds()[o.Fate.Failure]
	switch {
	case o.State != "" && !o.State.Known():
		return nil, fmt.Errorf("unknown state %q", o.State)
	case o.Fate.Failure != "" && !known:
		return nil, fmt.Errorf("unknown failure code %q", o.Fate.Failure)
	case o.Quantity < 0 || o.Quantity > math.MaxInt32:
		return nil, fmt.Errorf("the quantity is %d; it must be from 0 to %d", o.Quantity, math.MaxInt32)
	case o.ProductURL != "" && !isWebAddress(o.ProductURL):
		return nil, errors.New("the product URL must be absolute and begin with http:// or https://")
	case o.State == api.Failed && o.Fate.Failure == "":
		o.Fate.Failure, kind.Placing = "order_placement_failed", true
	}
	o.Fate.WhilePlacing = o.Fate.WhilePlacing || kind.Placing
	w, payment := s.shop.inventOrder(s.shop.dice)
	for range 100 { // of its own choice, one that can be sold and shipped
		if p := s.catalogue.find(w.ProductURL); !p.Digital && !p.removed && p.availability == api.InStock {
			break
		}
		w, payment = s.shop.inventOrder(s.shop.dice)
	}
	if o.ProductURL != "" {
		w.ProductURL, w.VariantSelections = o.ProductURL, s.catalogue.find(o.ProductURL).anySelection(s.shop.dice)
	}
	w.Quantity = max(1, o.Quantity)
	w.ReferenceID = cmp.Or(o.ReferenceID, w.ReferenceID)
	now := s.agenda.now()
	in := s.fulfilment.open(now, w, payment, o.Fate)
	if o.State != "" {
		s.fulfilment.bring(in, o.State, now)
	}
	return in, nil
}

// fulfilment moves intents from their creation to their order, and shipments to the buyer (contract, States and
// transitions). The simulator's lock guards it.
type fulfilment struct {
	cfg       *Config
	agenda    *agenda
	catalogue *catalogue
	buckets   *buckets
	webhooks  *webhooks

	intents   map[string]*intent
	order     series[*intent]
	most      int // how many intents are kept; more only while the oldest is not over
	states    map[api.IntentState]int
	queued    []*intent // one-step purchases that wait for an agent
	parcels   map[string]*shipment
	shipments series[*shipment]
}

// admit charges the daily bucket for a new intent. If the agents or the day are used up (contract, Limits), it
// returns the message of the refusal. The caller holds the lock until it has opened the intent.
func (f *fulfilment) admit(now time.Time) (refusal string) {
	switch {
	case f.buckets.agents.full(now):
		return fmt.Sprintf("You have reached the limit of %d running agents", f.buckets.agents.limit)
	case !f.buckets.intents.take(now):
		return fmt.Sprintf("You have reached the limit of %d checkout intents per day", f.buckets.intents.limit)
	}
	return ""
}

func (f *fulfilment) enter(in *intent, state api.IntentState) {
	f.states[in.State]--
	f.states[state]++
	f.buckets.agents.used = f.states[api.PlacingOrder]
	in.State = state
	if state.Terminal() {
		in.Due = time.Time{}
	}
}

// add adds a new intent, and lets the oldest go.
func (f *fulfilment) add(in *intent) {
	f.intents[in.ID] = in
	f.order.items = append(f.order.items, in)
	f.states[in.State]++
	for _, old := range f.order.letGo(f.most, (*intent).over) {
		delete(f.intents, old.ID)
		f.states[old.State]--
	}
	for _, old := range f.shipments.letGo(0, func(sh *shipment) bool { return f.intents[sh.CheckoutIntentID] == nil }) {
		delete(f.parcels, old.ID)
	}
}
