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
		for _, test := range []struct{ comes, waited, most time.Duration }{
			{0, 0, time.Second},
			{budgetShare - 1, 0, time.Second},
			{budgetShare - 1, 400 * time.Millisecond, 600 * time.Millisecond},
			{budgetShare, 0, time.Second},
			{5 * time.Second, 0, time.Second},
		} {
			<-time.After(test.comes - time.Since(began))
			come := time.Now()
			ctx, cancel := b.begin(test.waited)
			ends, bounded := ctx.Deadline()
			if left := ends.Sub(come); !bounded || ctx.Err() != nil || left > test.most || left <= test.most-budgetShare {
				t.Errorf("a delivery that comes after %v has %v left, %v", test.comes, left, ctx.Err())
			}
			cancel()
		}
	})
}

func TestWhoIsDoneLeavesTheBudgetToTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budgets{length: time.Second}
		_, done := b.begin(0)
		began := time.Now()
		others, cancel := b.begin(0)
		defer cancel()
		done()
		<-others.Done()
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("the others had %v", waited)
		}
	})
}
