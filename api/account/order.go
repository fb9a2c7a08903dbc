package account

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
)

// Order is the intents that share a referenceId: the contract leaves it to the
// client to put an order of several items or merchants together. It is immutable.
type Order struct {
	Reference api.Text
	Intents   []*Intent // its items, the first created first
	Counts    map[api.IntentState]int
	Worst     api.IntentState // of its items: failed is the worst, completed the best
	Best      api.IntentState
	Totals    []api.Money // by currency, of the items that have not failed and whose total is known
	Unpriced  int         // items that have not failed and whose total is not known, so that Totals is less than all
	Closing   *Intent     // the item to be confirmed first, as its window closes first; nil where none awaits that
	Failed    []*Intent   // the items that failed, without those that were ordered again; the first that failed first
	Ended     time.Time   // when the last of its items ended, as far as is known; zero while one is open

	// PartlyFailed says that an item failed, or expired, while another completed or
	// still may: that costs money, or the buyer gets less than was ordered.
	PartlyFailed bool
}

// NewOrder makes an order of its items; there must be one at least.
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
			sum.Add(nil) // a sum that is too small is better than a wrong one
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

// goodness orders the states from the worst to the best. What is not known, or not
// listed by the contract, may become anything but is no failure yet.
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

// findFailed lists the items that failed and that nobody has ordered again: another
// item of the same product, created after the failure, stands for one that failed.
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
