package account

import (
	"container/heap"
	"time"

	"tillwatch/api"
)

// intents are those of the picture: all that are open, and of those that have ended
// the newest.
type intents struct {
	table[IntentDetail]
	counts map[api.IntentState]int // "" stands for those of which only the id is known
	window time.Duration           // in which an intent may be confirmed
	keep   int                     // ended ones at the most
	ended  endings
	past   knownIDs // those that were let go
	letGo  int      // how many there were
	whole  answers
}

func newIntents(keep int, window time.Duration) intents {
	return intents{
		table:  newTable(func(in *IntentDetail) (*api.ID, *uint64) { return &in.ID, &in.Version }),
		counts: map[api.IntentState]int{}, window: window, keep: keep,
		ended: endings{of: map[api.ID]struct{}{}}, past: newKnownIDs(4 * keep),
	}
}

// editNew is [table.edit] for an intent that may be new.
func (t *intents) editNew(id api.ID, version uint64) *IntentDetail {
	if t.get(id) == nil {
		in := t.edit(id, version)
		in.basis.floor, in.basis.readRank = -1, -1
		t.counts[""]++
	}
	return t.edit(id, version)
}

// enter has an intent enter a state, and counts it.
func (t *intents) enter(in *IntentDetail, state api.IntentState) {
	t.leave(in.State)
	t.counts[state]++
	in.State = state
	t.setExpiry(in)
}

func (t *intents) leave(state api.IntentState) {
	if t.counts[state]--; t.counts[state] == 0 && !state.Known() {
		delete(t.counts, state)
	}
}

// setExpiry sets the end of the confirm window: it runs from the creation, while
// the intent may still be confirmed.
func (t *intents) setExpiry(in *IntentDetail) {
	in.ExpiresAt = time.Time{}
	if !in.CreatedAt.IsZero() && (in.State == api.AwaitingConfirmation || in.State == api.RetrievingOffer) {
		in.ExpiresAt = in.CreatedAt.Add(t.window)
	}
}

// listed counts intents by the states that the contract lists; those in other
// states count together, under "".
func (t *intents) listed() map[api.IntentState]int {
	listed := map[api.IntentState]int{}
	for state, n := range t.counts {
		switch {
		case state.Known():
			listed[state] = n
		case state != "":
			listed[""] += n
		}
	}
	return listed
}

// surplus takes out the intent that ended first, if more are kept than should be.
func (t *intents) surplus(version uint64) (*IntentDetail, bool) {
	for len(t.ended.heap) > t.keep {
		in := t.get(t.ended.first())
		if in == nil || !in.over() {
			continue // it is there again
		}
		t.leave(in.State)
		t.whole.drop(in.ID)
		t.past.add(in.ID)
		t.drop(in.ID, version)
		t.letGo++
		return in, true
	}
	return nil, false
}

// endings orders intents by when they ended.
type endings struct {
	heap endingHeap
	of   map[api.ID]struct{}
}

type ending struct {
	id          api.ID
	at, created time.Time
}

// note takes an intent that has ended for one that may be let go.
func (e *endings) note(in *IntentDetail) {
	if _, noted := e.of[in.ID]; noted || !in.over() {
		return
	}
	e.of[in.ID] = struct{}{}
	heap.Push(&e.heap, ending{in.ID, in.Since, in.CreatedAt})
}

// first takes out the intent that ended first.
func (e *endings) first() api.ID {
	id := heap.Pop(&e.heap).(ending).id
	delete(e.of, id)
	return id
}

// endingHeap is a [heap.Interface]; of endings of one moment that of the intent
// that was created first comes first.
type endingHeap []ending

func (h endingHeap) Len() int      { return len(h) }
func (h endingHeap) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *endingHeap) Push(x any)   { *h = append(*h, x.(ending)) }

func (h endingHeap) Less(a, b int) bool {
	if h[a].at.Equal(h[b].at) {
		return h[a].created.Before(h[b].created)
	}
	return h[a].at.Before(h[b].at)
}

func (h *endingHeap) Pop() any {
	last := len(*h) - 1
	gone := (*h)[last]
	*h = (*h)[:last]
	return gone
}
