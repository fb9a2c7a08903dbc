package simulator

import (
	"math"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// balance is the pre-funded account behind the payment method drawdown.
type balance struct {
	limited bool  // false: it never runs out
	left    int64 // cents
}

// newBalance reads the balance of a [Config].
func newBalance(cents int64) balance { return balance{cents != 0, max(0, cents)} }

// draw pays the total of an intent from the balance when its order is placed. If the
// balance does not cover it, the order will fail while it is placed.
func (f *fulfilment) draw(in *intent) {
	total := in.Offer.Cost.Total.AmountSubunits
	switch b := &f.balance; {
	case !b.limited || in.PaymentMethod == nil || in.PaymentMethod.Type != api.Drawdown:
	case total > b.left:
		in.Unpaid = true
	default:
		b.left -= total
		in.Drawn = total
	}
}

// giveBack returns what a failed order had drawn.
func (f *fulfilment) giveBack(in *intent) {
	f.balance.left += in.Drawn
	in.Drawn = 0
}

func notCovered() *failureWire {
	return &failureWire{"payment_failed", "The drawdown balance does not cover the total"}
}

// balanceWire is the balance in the control API: null means that it never runs out.
type balanceWire struct {
	AmountSubunits *int64 `json:"amountSubunits"`
}

func (b balance) wire() (w balanceWire) {
	if b.limited {
		w.AmountSubunits = &b.left
	}
	return w
}

func (c controlAPI) readBalance(*request) answer { return ok(c.sim.fulfilment.balance.wire()) }

func (c controlAPI) setBalance(r *request, o balanceWire) answer {
	b := balance{}
	if !gjson.GetBytes(r.body, "amountSubunits").Exists() {
		return invalidField("body.amountSubunits", "'amountSubunits' is required")
	}
	if cents := o.AmountSubunits; cents != nil {
		if *cents < 0 || *cents > math.MaxInt32 {
			return invalidField("body.amountSubunits", "must be cents from 0 to 2147483647, or null: it never runs out")
		}
		b = balance{true, *cents}
	}
	c.sim.fulfilment.balance = b
	return ok(b.wire())
}
