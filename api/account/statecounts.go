package account

import "tillwatch/api"

// stateCounts counts intents by their states; those of states that the contract
// does not list count together.
type stateCounts struct {
	counts [isFailed + 1]int
	ever   [isFailed + 1]bool // something was counted
}

func (c *stateCounts) add(state keptState) {
	c.counts[state]++
	c.ever[state] = true
}

func (c *stateCounts) move(from, to keptState) {
	c.counts[from]--
	c.add(to)
}

func (c *stateCounts) of(state api.IntentState) int { return c.counts[keptStateOf(state)] }

// all is the counts of all states that anything was ever in, others under "".
func (c *stateCounts) all() map[api.IntentState]int {
	all := make(map[api.IntentState]int, len(c.counts))
	for place, state := range listedStates {
		if c.ever[place] {
			all[state] = c.counts[place]
		}
	}
	return all
}

// keptState is a state in a byte, 0 for one that the contract does not list, which is
// kept beside it, or for none.
type keptState uint8

const (
	isRetrieving keptState = iota + 1
	isAwaiting
	isPlacing
	isCompleted
	isFailed
)

// listedStates are the states that the contract lists, by what is kept of them.
var listedStates = [...]api.IntentState{
	isRetrieving: api.RetrievingOffer, isAwaiting: api.AwaitingConfirmation, isPlacing: api.PlacingOrder,
	isCompleted: api.Completed, isFailed: api.Failed,
}

func keptStateOf(state api.IntentState) keptState {
	switch state {
	case api.RetrievingOffer:
		return isRetrieving
	case api.AwaitingConfirmation:
		return isAwaiting
	case api.PlacingOrder:
		return isPlacing
	case api.Completed:
		return isCompleted
	case api.Failed:
		return isFailed
	}
	return 0
}

func (k keptState) terminal() bool { return listedStates[k].Terminal() }

func (s *Store) stateOf(r *intentRecord) api.IntentState {
	if r.state == 0 && len(s.otherStates) > 0 {
		return s.otherStates[r.number]
	}
	return listedStates[r.state]
}

// setState enters a state, and counts it.
func (s *Store) setState(r *intentRecord, state api.IntentState) {
	before := r.state
	r.state = keptStateOf(state)
	s.intentCounts.move(before, r.state)
	if r.state == 0 && state != "" {
		s.otherStates[r.number] = state
	} else if len(s.otherStates) > 0 {
		delete(s.otherStates, r.number)
	}
}
