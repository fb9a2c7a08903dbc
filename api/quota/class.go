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

// Classes lists the contract's classes.
func Classes() []Class { return []Class{Reads, Mutations, Lookup} }

// DefaultLimit is how many requests a second the contract gives a class (Limits); an unknown class gets the least.
func (c Class) DefaultLimit() int64 {
	switch c {
	case Reads, Lookup:
		return 10
	}
	return 5
}

// compareClasses orders the contract's classes first, in its order.
func compareClasses(a, b Class) int {
	place := func(c Class) int {
		if i := slices.Index(Classes(), c); i >= 0 {
			return i
		}
		return len(Classes())
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// Priority orders requests that wait for quota: lower values go first.
type Priority int

// Who asks, and why.
const (
	Person    Priority = iota // a person waits for the answer
	Hint                      // an event reports a change
	Timer                     // a scheduled read
	Reconcile                 // a read to find missed changes
)

const priorities = int(Reconcile) + 1

var priorityWords = [priorities]string{"person", "hint", "timer", "reconcile"}

// MarshalText returns the priority's name.
func (p Priority) MarshalText() ([]byte, error) { return []byte(priorityWords[p.clamped()]), nil }

// UnmarshalText takes an unknown name for [Person].
func (p *Priority) UnmarshalText(word []byte) error {
	*p = Priority(max(slices.Index(priorityWords[:], string(word)), 0))
	return nil
}

func (p Priority) clamped() Priority { return min(max(p, Person), Reconcile) }

type priorityKey struct{}

// WithPriority sets the priority of the requests of ctx. Without it they have [Person].
func WithPriority(ctx context.Context, p Priority) context.Context {
	return context.WithValue(ctx, priorityKey{}, p)
}

// PriorityOf returns the priority set by [WithPriority].
func PriorityOf(ctx context.Context) Priority {
	p, _ := ctx.Value(priorityKey{}).(Priority)
	return p
}
