package quota

import "context"

// Class is the class of an endpoint: which per-second bucket a call charges
// (contract, Limits).
type Class string

// The classes of the contract.
const (
	Reads     Class = "reads"
	Mutations Class = "mutations"
	Lookup    Class = "lookup"
)

// Priority orders requests that wait for quota: the lower, the sooner.
type Priority int

// Who asks.
const (
	Person    Priority = iota // somebody waits for the answer
	Hint                      // an event says that something changed
	Timer                     // it is time to look again
	Reconcile                 // to be sure
)

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
