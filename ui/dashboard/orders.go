package dashboard

import (
	"slices"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// groupOrders groups the intents by order, or ungroups them.
func (b *board) groupOrders() {
	by := !b.intents.Grouped()
	b.intents.Group(by)
	b.reveal(layout.Intents)
	b.setFocus(layout.Intents)
	b.preferences.ByOrder = by
	b.preferences.keep()
	if by {
		b.notices.say(plain, "grouped by order; "+b.cfg.Actions.KeyOf(action.GroupOrders)+" shows the intents one by one again")
	} else {
		b.notices.say(plain, "intents one by one")
	}
}

// headUnder reports whether the cursor is on the head of an order.
func (b *board) headUnder() bool { return b.focus == layout.Intents && b.intents.OrderUnder() != nil }

// orderUnder returns the order whose head is under the cursor, or whose detail has the
// focus; nil if there is none.
func (b *board) orderUnder() *account.Order {
	switch b.focus {
	case layout.Intents:
		return b.intents.OrderUnder()
	case layout.Detail:
		return b.detail.Order()
	}
	return nil
}

// ordered returns the order of a reference, if an intent has it.
func (p *picture) ordered(reference string) []pane.Subject {
	for _, in := range p.intents {
		if string(in.ReferenceID) == reference {
			return []pane.Subject{{Kind: pane.OfOrder, Reference: in.ReferenceID}}
		}
	}
	return nil
}

// order collects the items of an order; nil if there are none.
func (p *picture) order(reference api.Text) *account.Order {
	var items []*account.Intent
	for _, in := range p.intents {
		if in.ReferenceID == reference {
			items = append(items, in)
		}
	}
	if len(items) == 0 {
		return nil
	}
	return account.NewOrder(reference, items)
}

// orderDisabled says why no item of an order can be confirmed now; "" if one can.
func (b *batch) orderDisabled(o *account.Order) string {
	if b.queue != nil {
		return "a batch is running: " + b.cfg.Actions.KeyOf(action.StopBatch) + " stops it"
	}
	waiting := ""
	for _, item := range o.Intents {
		in, ok := b.picture.intents[item.ID]
		if !ok || in.State != api.AwaitingConfirmation {
			continue
		}
		if waiting = b.confirms.unconfirmable(in); waiting == "" {
			return ""
		}
	}
	if waiting != "" {
		return "no item of this order can be confirmed now: " + waiting
	}
	return "no item of this order awaits confirmation"
}

// proposeOrder binds the items of an order that can be confirmed, the one that expires
// first at the front. left says why the others cannot be confirmed.
func (b *batch) proposeOrder(o *account.Order) (seen []confirm.Proposal, left []dialog.Left) {
	for _, item := range o.Intents {
		in, ok := b.picture.intents[item.ID]
		if !ok {
			left = append(left, dialog.Left{ID: item.ID, Name: nameOfItem(item), Why: "it is no longer known"})
			continue
		}
		why := b.whyNot(in)
		if why == "" {
			p, err := b.confirms.propose(in.ID)
			if err == nil {
				seen = append(seen, p)
				continue
			}
			why = err.Error()
		}
		left = append(left, dialog.Left{ID: in.ID, Name: nameOfItem(in), Why: why})
	}
	slices.SortFunc(seen, closesFirst)
	return seen, left
}

// whyNot says why an item cannot be confirmed; "" if it can.
func (b *batch) whyNot(in *account.Intent) string {
	switch {
	case in.State == api.Failed:
		return "failed: " + wording.Failure(in.Failure)
	case in.State != api.AwaitingConfirmation && in.State != "":
		return sign.Intent(in.State).Word
	}
	return b.confirms.unconfirmable(in)
}

func nameOfItem(in *account.Intent) string {
	if in.Product == "" {
		return string(in.ID)
	}
	if in.Quantity > 1 {
		return string(in.Product) + " ×" + wording.Count(in.Quantity)
	}
	return string(in.Product)
}
