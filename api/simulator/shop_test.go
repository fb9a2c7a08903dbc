package simulator

import (
	"testing"
	"time"
)

func TestItemsOfAnOrderShareReferenceAndBuyer(t *testing.T) {
	for share, most := range map[float64]int{0: 1, 0.5: 4} {
		inBubble(t, func(c *Config) {
			c.IntentsPerMinute, c.ManyItems, c.History, c.Limits = 4, share, 60, Unlimited()
		}, func(a *account) {
			later(3 * time.Hour)
			byReference := map[string][]*intent{}
			for _, in := range a.sim.fulfilment.order.items {
				byReference[in.ReferenceID] = append(byReference[in.ReferenceID], in)
			}
			sizes, intents := map[int]int{}, 0
			for reference, items := range byReference {
				sizes[len(items)]++
				intents += len(items)
				for _, in := range items {
					if *in.Buyer != *items[0].Buyer {
						t.Errorf("%s has two buyers", reference)
					}
					if len(items) > 1 && in.number > 60 && in.Fate.Purchase {
						t.Errorf("%s is bought in one step: nobody could confirm it as a whole", reference)
					}
				}
			}
			if len(sizes) != most || sizes[1] == 0 || sizes[most] == 0 {
				t.Errorf("orders by their size: %v, want one to %d items", sizes, most)
			}
			if intents < 500 || intents > 1100 { // 60 past ones and 4 a minute, whatever their orders
				t.Errorf("%d intents in 3 hours", intents)
			}
		})
	}
}
