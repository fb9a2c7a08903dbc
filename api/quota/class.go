package quota

import (
	"cmp"
	"context"
	"slices"
)

// Class is the class of an endpoint: which per-second bucket a call charges
// (contract, Limits).
type Class string

// The classes of the contract.
const (
	Reads     Class = "reads"
	Mutations Class = "mutations"
	Lookup    Class = "lookup"
)

// Classes lists them.
func Classes() []Class { return []Class{Reads, Mutations, Lookup} }

// defaultLimit is the number of requests a second that the contract gives a class
// (Limits); an unknown class gets the least.
func (c Class) defaultLimit() int64 {
	switch c {
	case Reads, Lookup:
		return 10
	}
	return 5
}

// compareClasses puts the contract's classes first, in its order.
func compareClasses(a, b Class) int {
	place := func(c Class) int {
		if i := slices.Index(Classes(), c); i >= 0 {
			return i
		}
		return len(Classes())
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// Priority orders requests that wait for quota: the lower, the sooner.
type Priority int

// Who asks.
const (
	Person    Priority = iota // somebody waits for the answer
	Hint                      // an event says that something changed
	Timer                     // it is time to look again
	Reconcile                 // to be sure
)

const priorities = int(Reconcile) + 1

var priorityWords = [priorities]string{"person", "hint", "timer", "reconcile"}

// MarshalText makes the priority the word that it has in JSON.
func (p Priority) MarshalText() ([]byte, error) { return []byte(priorityWords[p.clamped()]), nil }

// UnmarshalText takes a word that is not known for the first.
func (p *Priority) UnmarshalText(word []byte) error {
	*p = Priority(max(slices.Index(priorityWords[:], string(word)), 0))
	return nil
}

func (p Priority) clamped() Priority { return min(max(p, Person), Reconcile) }

type priorityKey struct{}

// WithPriority marks the requests of ctx. Without a mark they are a person's.
func WithPriority(ctx context.Context, p Priority) context.Context {
	return context.WithValue(ctx, priorityKey{}, p)
}

// PriorityOf reads the mark of [WithPriority].
func PriorityOf(ctx context.Context) Priority {
	p, _ := ctx.Value(priorityKey{}).(Priority)
	return p
}
