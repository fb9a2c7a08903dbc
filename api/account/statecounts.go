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
