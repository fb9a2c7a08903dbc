package relay

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestABudgetNeverLastsLongerThanItsLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budgets{length: time.Second}
		began := time.Now()
		for _, comes := range []time.Duration{0, budgetShare - 1, budgetShare, 5 * time.Second} {
			<-time.After(comes - time.Since(began))
			come := time.Now()
			ctx := b.begin()
			ends, bounded := ctx.Deadline()
			if left := ends.Sub(come); !bounded || ctx.Err() != nil || left > b.length || left <= b.length-budgetShare {
				t.Errorf("a delivery that comes after %v has %v left, %v", comes, left, ctx.Err())
			}
		}
	})
}
