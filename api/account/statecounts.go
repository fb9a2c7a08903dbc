package account

import "tillwatch/api"

// stateCounts counts intents by their states; those of states that the contract
// does not list count together.
type stateCounts struct {
	counts [6]int
	ever   [6]bool // something was counted
}

func (c *stateCounts) add(state api.IntentState, n int) {
	i := placeOfState(state)
	c.counts[i] += n
	c.ever[i] = true
}

func (c *stateCounts) of(state api.IntentState) int { return c.counts[placeOfState(state)] }

// all is the counts of all states that anything was ever in, others under "".
func (c *stateCounts) all() map[api.IntentState]int {
	all := make(map[api.IntentState]int, len(c.counts))
	for _, state := range append(api.IntentStates(), "") {
		if i := placeOfState(state); c.ever[i] {
			all[state] = c.counts[i]
		}
	}
	return all
}

// keptState is a state in a byte: its place in the counts. A state that the contract
// does not list is kept beside it.
type keptState uint8

// listedStates are the states that the contract lists, at their places.
var listedStates = [...]api.IntentState{
	1: api.RetrievingOffer, 2: api.AwaitingConfirmation, 3: api.PlacingOrder, 4: api.Completed, 5: api.Failed,
}

func (k keptState) terminal() bool { return listedStates[k].Terminal() }

// in reports whether an intent is in a state that the contract lists.
func (r *intentRecord) in(state api.IntentState) bool { return listedStates[r.state] == state }

func (s *Store) stateOf(r *intentRecord) api.IntentState {
	if r.state == 0 && len(s.otherStates) > 0 {
		return s.otherStates[r.number]
	}
	return listedStates[r.state]
}

func (s *Store) setState(r *intentRecord, state api.IntentState) {
	r.state = keptState(placeOfState(state))
	if r.state == 0 && state != "" {
		s.otherStates[r.number] = state
	} else if len(s.otherStates) > 0 {
		delete(s.otherStates, r.number)
	}
}

func placeOfState(state api.IntentState) int {
	switch state {
	case api.RetrievingOffer:
		return 1
	case api.AwaitingConfirmation:
		return 2
	case api.PlacingOrder:
		return 3
	case api.Completed:
		return 4
	case api.Failed:
		return 5
	}
	return 0
}
