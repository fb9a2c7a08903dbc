package simulator

import (
	"fmt"
	"time"

	"tillwatch/api"
)

// fulfilment moves intents from their creation to their order, and shipments to the
// buyer (contract, States and transitions). The simulator's lock guards it.
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
	balance   balance
}

// admit charges the daily bucket for a new intent. If the agents or the day are used up
// (contract, Limits), it returns the message of the refusal. The caller holds the lock
// until it has opened the intent.
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

// bring moves an intent on until it is in the state to, or in a terminal one.
func (f *fulfilment) bring(in *intent, to api.IntentState, now time.Time) {
	if in.State.Rank() < to.Rank() && in.State == api.RetrievingOffer {
		f.endRetrieval(in, now)
	}
	if in.State.Rank() < to.Rank() && in.State == api.AwaitingConfirmation {
		f.confirm(in, nil, now)
	}
	if in.State.Rank() < to.Rank() && in.State == api.PlacingOrder {
		f.endPlacing(in, now)
	}
}
