package simulator

import (
	"context"
	"fmt"
	"sync"
)

// goroutines owns the goroutines of [Simulator.Run]. The simulator's lock guards running and
// owned.
type goroutines struct {
	crashed chan error // the first panic

	running context.Context // nil while Run does not run
	owned   *sync.WaitGroup
}

// spawn starts a goroutine that Run waits for. The caller holds the lock, and running
// must not be nil.
func (g *goroutines) spawn(what string, run func(context.Context)) {
	ctx := g.running
	g.owned.Go(func() {
		defer g.reportPanic(what)
		run(ctx)
	})
}

func (g *goroutines) reportPanic(what string) {
	if p := recover(); p != nil {
		select {
		case g.crashed <- fmt.Errorf("simulator: %s: panic: %v", what, p):
		default:
		}
	}
}
