package account

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
)

// Order is the intents that share a referenceId: the contract leaves it to the client to combine several items or
// merchants into one order. It is immutable.
type Order struct {
	Reference api.Text                `json:"referenceId"`
	Intents   []*Intent               `json:"intents"` // its items, by creation
	Counts    map[api.IntentState]int `json:"counts"`
	Worst     api.IntentState         `json:"worst"` // the worst state of its items: failed is worst, completed best
	Best      api.IntentState         `json:"best"`
	Totals    []api.Money             `json:"totals,omitempty"`   // known totals of the items that have not failed, by currency
	Unpriced  int                     `json:"unpriced,omitempty"` // items that have not failed and whose total is unknown or cannot be added, so that Totals is too low
	Closing   *Intent                 `json:"-"`                  // the awaiting item whose window closes first; nil for none
	Failed    []*Intent               `json:"-"`                  // the items that failed and were not ordered again, by when they failed
	Ended     time.Time               `json:"-"`                  // when its last item ended, as far as known; zero while one is open

	// PartlyFailed: an item failed or expired while another completed or still may. That costs money, or the buyer
	// gets less than was ordered.
	PartlyFailed bool `json:"partlyFailed,omitempty"`
}

// NewOrder makes an order of its items, of which there is at least one.
func NewOrder(reference api.Text, items []*Intent) *Order {
	o := &Order{Reference: reference, Intents: slices.Clone(items), Counts: map[api.IntentState]int{}}
	slices.SortFunc(o.Intents, func(a, b *Intent) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	o.Worst, o.Best = o.Intents[0].State, o.Intents[0].State
	var sum Purse
	open := false
	for _, in := range o.Intents {
		o.Counts[in.State]++
		if goodness(in.State) < goodness(o.Worst) {
			o.Worst = in.State
		}
		if goodness(in.State) > goodness(o.Best) {
			o.Best = in.State
		}
		switch {
		case in.State == api.Failed:
		case in.Total != nil && in.Total.Subunits < 0:
			sum.Add(nil) // a total that cannot be added counts as unknown
		default:
			sum.Add(in.Total)
		}
		if closesBefore(in, o.Closing) {
			o.Closing = in
		}
		open = open || !in.over()
		o.Ended = later(o.Ended, in.Since)
	}
	if open {
		o.Ended = time.Time{}
	}
	o.Totals, o.Unpriced = sum.Amounts, sum.Unpriced
	o.findFailed()
	return o
}

// goodness orders the states from the worst to the best. An unknown or unlisted state may become anything, but is
// no failure yet.
func goodness(s api.IntentState) int {
	if s == api.Failed {
		return -2
	}
	return s.Rank()
}

func closesBefore(in, other *Intent) bool {
	if in.State != api.AwaitingConfirmation || in.Missing {
		return false
	}
	return other == nil || !in.ExpiresAt.IsZero() && (other.ExpiresAt.IsZero() || in.ExpiresAt.Before(other.ExpiresAt))
}

// findFailed lists the failed items that were not ordered again: a later item of the same product, created after
// the failure, replaces one that failed.
func (o *Order) findFailed() {
	if o.Counts[api.Failed] == 0 {
		return
	}
	type product struct{ name, merchant api.Text }
	var failed []*Intent
	again := map[product][]*Intent{}
	alive := false
	for _, in := range o.Intents {
		of := product{in.Product, in.Merchant}
		switch {
		case in.State == api.Failed:
			failed = append(failed, in)
		case in.Product != "":
			again[of] = append(again[of], in)
		}
		alive = alive || in.State.Known() && in.State != api.Failed && !in.Missing
	}
	slices.SortStableFunc(failed, func(a, b *Intent) int { return a.Since.Compare(b.Since) })
	for _, in := range failed {
		of := product{in.Product, in.Merchant}
		later := again[of]
		for len(later) > 0 && !later[0].CreatedAt.After(in.Since) {
			later = later[1:]
		}
		if len(later) > 0 {
			later = later[1:]
		} else {
			o.Failed = append(o.Failed, in)
		}
		again[of] = later
	}
	o.PartlyFailed = alive && len(o.Failed) > 0
}
