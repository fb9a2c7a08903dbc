package simulator

import (
	"testing"
	"time"
)

// ordersOf lists the intents of each reference, after some hours of a shop.
func ordersOf(t *testing.T, share float64) (byReference map[string][]*intent) {
	inBubble(t, func(c *Config) {
		c.IntentsPerMinute, c.ManyItems, c.History, c.Limits = 4, share, 60, Unlimited()
	}, func(a *account) {
		later(3 * time.Hour)
		byReference = map[string][]*intent{}
		for _, in := range a.sim.fulfilment.order.items {
			byReference[in.ReferenceID] = append(byReference[in.ReferenceID], in)
		}
	})
	return byReference
}

func TestShopSellsOrdersOfSeveralItemsOnlyWhereItIsAskedTo(t *testing.T) {
	for reference, items := range ordersOf(t, 0) {
		if len(items) != 1 {
			t.Fatalf("%s has %d items", reference, len(items))
		}
	}
}

func TestItemsOfAnOrderShareReferenceAndBuyer(t *testing.T) {
	sizes, intents := map[int]int{}, 0
	for reference, items := range ordersOf(t, 0.5) {
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
	if len(sizes) != 4 || sizes[1] == 0 || sizes[4] == 0 {
		t.Errorf("orders by their size: %v, want one to four items", sizes)
	}
	if intents < 500 || intents > 1100 { // 60 past ones and 4 a minute, as without orders of several items
		t.Errorf("%d intents in 3 hours", intents)
	}
}
