package account

import (
	"sync"
	"testing"
)

func TestWhoWaitsAtTheGateIsLetIn(t *testing.T) {
	var g gate
	var entered sync.WaitGroup
	inside, rounds := 0, 100
	for range 8 {
		entered.Go(func() {
			for range rounds {
				g.Lock()
				inside++
				g.Unlock()
			}
		})
	}
	for range rounds {
		g.Lock()
		inside++
		g.Unlock()
		g.yield()
	}
	entered.Wait()
	if inside != 9*rounds || g.waiting.Load() != 0 {
		t.Errorf("%d were inside, and %d wait, want %d and none", inside, g.waiting.Load(), 9*rounds)
	}
}
