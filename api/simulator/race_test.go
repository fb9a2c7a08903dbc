package simulator

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
)

func TestConcurrentCreatorsNeverPassACap(t *testing.T) {
	const creators = 64
	t.Run("50 a day", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Limits.Mutations = -1 }, func(a *account) {
			counts := race(a, creators, 4)
			if counts[http.StatusCreated] != 50 || counts[http.StatusTooManyRequests] != 4*creators-50 {
				a.Errorf("answers: %v", counts)
			}
		})
	})
	t.Run("10 agents", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Limits.Mutations, c.Limits.PerDay = -1, -1 }, func(a *account) {
			most := 0
			for range 40 {
				race(a, creators, 1)
				for range 5 {
					later(time.Second)
					most = max(most, a.summary().Intents[api.PlacingOrder])
				}
			}
			if most != 10 {
				a.Errorf("at most %d intents were placing, want 10", most)
			}
		})
	})
	t.Run("5 mutations a second", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Limits.PerDay = -1 }, func(a *account) {
			later(time.Second)
			if counts := race(a, creators, 2); counts[http.StatusCreated] != 5 {
				a.Errorf("answers: %v", counts)
			}
		})
	})
}

// race lets creators purchase at the same time and counts the answers by status.
func race(a *account, creators, each int) map[int]int {
	var mu sync.Mutex
	counts := map[int]int{}
	var all sync.WaitGroup
	for range creators {
		all.Go(func() {
			for range each {
				r := a.burst("POST", "/api/v1/checkout-intents/purchase", orderJSON(chiliCrisp, drawdown))
				mu.Lock()
				counts[r.status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return counts
}
