package quota

import (
	"context"
	"net/http"
	"time"
)

// Outcome is what came of a permitted request.
type Outcome struct {
	Status   int // 0 when no answer came
	Header   http.Header
	Sent     time.Time
	Received time.Time
}

// Permit allows one request. Done must be called exactly once.
type Permit struct{ done func(Outcome) }

// Done books the request and what its answer said of the quota.
func (p Permit) Done(o Outcome) {
	if p.done != nil {
		p.done(o)
	}
}

// Pacer lets requests out at the pace that the account's quota allows.
type Pacer struct{}

// PacerConfig bounds what this client may spend.
type PacerConfig struct {
	Share   float64 // share of a bucket that requests below Person may spend; 0 means 0.3
	Reserve int64   // remaining requests at which they stop; 0 means 2
}

// NewPacer makes a pacer that keeps its books itself.
func NewPacer(cfg PacerConfig) *Pacer { panic("unwritten") }

// Acquire waits until a request of class may go out, in the order of the
// priorities, or until ctx ends.
func (p *Pacer) Acquire(ctx context.Context, class Class) (Permit, error) { panic("unwritten") }

// Buckets is what is known of every bucket seen, in a stable order.
func (p *Pacer) Buckets(now time.Time) []Bucket { panic("unwritten") }
