package simulator

import (
	"context"
	"fmt"
	"sync"
)

// crew owns the goroutines of [Simulator.Run]. The simulator's lock guards running and
// owned.
type crew struct {
	crashed chan error // the first panic

	running context.Context // nil while Run does not run
	owned   *sync.WaitGroup
}

// spawn starts a goroutine that Run waits for. The caller holds the lock, and running
// must not be nil.
func (c *crew) spawn(what string, run func(context.Context)) {
	ctx := c.running
	c.owned.Go(func() {
		defer c.reportPanic(what)
		run(ctx)
	})
}

func (c *crew) reportPanic(what string) {
	if p := recover(); p != nil {
		select {
		case c.crashed <- fmt.Errorf("simulator: %s: panic: %v", what, p):
		default:
		}
	}
}
