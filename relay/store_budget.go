package relay

import (
	"context"
	"sync"
	"time"
)

// budgetShare is how long a budget is given to every delivery that comes: those
// that come last have as much less of it.
const budgetShare = 10 * time.Millisecond

// budgets bound how long deliveries wait for the store. Deliveries that come
// together have one, as a timer for each costs more than their judging.
type budgets struct {
	length time.Duration

	mu    sync.Mutex
	began time.Time
	ctx   context.Context    // ends length after began
	end   context.CancelFunc // not called: others may have the budget as well
}

// begin returns a context that ends when a delivery has used its budget up, or a
// little earlier.
func (b *budgets) begin() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); b.ctx == nil || now.Sub(b.began) >= min(budgetShare, b.length/2) {
		b.ctx, b.end = context.WithDeadline(context.Background(), now.Add(b.length))
		b.began = now
	}
	return b.ctx
}
