package account

import (
	"cmp"
	"math"
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
	Ended     time.Time   // when the last of its items ended; zero while one is open
}

// NewOrder makes an order of its items; there must be one at least.
func NewOrder(reference api.Text, items []*Intent) *Order {
	o := &Order{Reference: reference, Intents: slices.Clone(items), Counts: map[api.IntentState]int{}}
	slices.SortFunc(o.Intents, func(a, b *Intent) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	o.Worst, o.Best = items[0].State, items[0].State
	open := false
	for _, in := range o.Intents {
		o.Counts[in.State]++
		if goodness(in.State) < goodness(o.Worst) {
			o.Worst = in.State
		}
		if goodness(in.State) > goodness(o.Best) {
			o.Best = in.State
		}
		if in.State != api.Failed {
			o.add(in.Total)
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

// add adds the total of an item up. One that does not fit counts as not known: a sum
// that is too small is better than a wrong one.
func (o *Order) add(total *api.Money) {
	if total == nil {
		o.Unpriced++
		return
	}
	i := slices.IndexFunc(o.Totals, func(m api.Money) bool { return m.Currency == total.Currency })
	switch {
	case total.Subunits < 0 || i >= 0 && o.Totals[i].Subunits > math.MaxInt64-total.Subunits:
		o.Unpriced++
	case i < 0:
		o.Totals = append(o.Totals, *total)
	default:
		o.Totals[i].Subunits += total.Subunits
	}
}

// Failed lists the items that failed and that nobody has ordered again: another item
// of the same product, created after the failure, stands for one that failed.
func (o *Order) Failed() []*Intent {
	var failed []*Intent
	stands := map[*Intent]bool{}
	for _, in := range o.Intents {
		if in.State != api.Failed {
			continue
		}
		again := slices.IndexFunc(o.Intents, func(other *Intent) bool {
			return other.State != api.Failed && !stands[other] && in.Product != "" && other.Product == in.Product &&
				other.Merchant == in.Merchant && other.CreatedAt.After(in.Since)
		})
		if again < 0 {
			failed = append(failed, in)
		} else {
			stands[o.Intents[again]] = true
		}
	}
	return failed
}

// PartlyFailed reports whether an item failed, or expired, while another completed or
// still may: that costs money, or the buyer gets less than was ordered.
func (o *Order) PartlyFailed() bool {
	alive := func(in *Intent) bool { return in.State.Known() && in.State != api.Failed && !in.Missing }
	return slices.ContainsFunc(o.Intents, alive) && len(o.Failed()) > 0
}
