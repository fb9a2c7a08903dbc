package account

import "tillwatch/api"

// stateCounts counts intents by their states; "" stands for those of which only
// the id is known.
type stateCounts map[api.IntentState]int

func (c stateCounts) move(from, to api.IntentState) {
	c[from]--
	if c[from] == 0 && !from.Known() {
		delete(c, from)
	}
	c[to]++
}

// listed are the counts by the states that the contract lists; all others count
// together, under "".
func (c stateCounts) listed() map[api.IntentState]int {
	listed := map[api.IntentState]int{}
	for state, n := range c {
		switch {
		case state.Known():
			listed[state] = n
		case state != "":
			listed[""] += n
		}
	}
	return listed
}

// setState enters a state, and counts it.
func (s *Store) setState(r *intentRecord, state api.IntentState) {
	s.intentCounts.move(r.state, state)
	r.state = state
}
