package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"tillwatch/api"
)

// Order describes an intent to create within the process, without the API. It charges
// no bucket.
type Order struct {
	ProductURL  string // default: a random product of the catalogue
	Quantity    int    // default 1
	ReferenceID string
	Fate        Fate
	Seed        uint64          // the same seed gives the same intent, with the usual durations; 0: the simulator's seed decides
	State       api.IntentState // the intent is moved to this state at once; "": it starts as usual
}

// CreateIntent creates an intent with a chosen fate and returns its id.
func (s *Simulator) CreateIntent(o Order) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, err := s.shop.createOrder(o)
	if err != nil {
		return "", err
	}
	return in.ID, nil
}

// createOrder is [Simulator.CreateIntent]. The caller holds the lock.
func (s *shop) createOrder(o Order) (*intent, error) {
	if o.State != "" && !o.State.Known() {
		return nil, fmt.Errorf("simulator: creating an intent: unknown state %q", o.State)
	}
	if _, known := failureKinds()[o.Fate.Failure]; o.Fate.Failure != "" && !known {
		return nil, fmt.Errorf("simulator: creating an intent: unknown failure code %q", o.Fate.Failure)
	}
	for name, d := range map[string]time.Duration{"offer": o.Fate.OfferAfter, "placing": o.Fate.PlacingAfter, "confirm": o.Fate.ConfirmAfter} {
		if d < 0 || d > 365*day {
			return nil, fmt.Errorf("simulator: creating an intent: the time until %s is not from 0 to 365 days", name)
		}
	}
	if o.Quantity < 0 || o.Quantity > math.MaxInt32 {
		return nil, fmt.Errorf("simulator: creating an intent: the quantity is %d; it must be from 0 to %d", o.Quantity, math.MaxInt32)
	}
	now := s.agenda.now()
	d := s.dice
	if o.Seed != 0 {
		d = newDice(o.Seed, diceShop, 0)
		o.Fate.OfferAfter = cmp.Or(o.Fate.OfferAfter, s.cfg.Timings.Offer)
		o.Fate.PlacingAfter = cmp.Or(o.Fate.PlacingAfter, s.cfg.Timings.Placing)
	}
	w, payment := s.inventOrder(d)
	if o.ProductURL != "" {
		if !isWebAddress(o.ProductURL) {
			return nil, errors.New("simulator: creating an intent: the product URL must be absolute and begin with http:// or https://")
		}
		w.ProductURL, w.VariantSelections = o.ProductURL, nil
		if variantID(o.ProductURL) == "" {
			w.VariantSelections = s.catalogue.find(o.ProductURL).anySelection(d)
		}
	}
	w.Quantity = max(1, o.Quantity)
	if o.ReferenceID != "" {
		w.ReferenceID = o.ReferenceID
	}
	w.PromoCodes = nil
	in := s.fulfilment.open(now, w, payment, o.Fate)
	if o.State == api.Failed && in.Fate.Failure == "" {
		in.Fate.Failure, in.Fate.WhilePlacing = "order_placement_failed", true
	}
	if o.State != "" {
		s.fulfilment.bring(in, o.State, now)
	}
	return in, nil
}
