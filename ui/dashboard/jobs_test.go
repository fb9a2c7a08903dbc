package dashboard

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestQuestionsOfTheDayAreAnsweredInFewKeys counts the keys of the questions that an
// operator comes with. Confirming, late parcels, what happened meanwhile and evidence
// have tests of their own, which count as well.
func TestQuestionsOfTheDayAreAnsweredInFewKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  []string
		most  int
		shows []string
	}{
		{"why do this merchant's checkouts fail, from its row", []string{"l", "l", "l", "f", "f"}, 6, []string{"/ reason="}},
		{"why do checkouts fail, and which of them", []string{"F", "enter"}, 6, []string{"/ reason=", " failed"}},
		{"which merchant's checkouts fail", []string{"F", "l", "enter"}, 6, []string{"/ merchant=", "state:failed"}},
		{"is the service slow today", []string{"P"}, 1, []string{"p50", "41ms", "180ms"}},
		{"how is the day going", []string{"P"}, 1, []string{"completed ↑", "awaiting", "today", "yesterday"}},
	} {
		for _, size := range [][2]int{{200, 55}, {120, 36}} {
			synctest.Test(t, func(t *testing.T) {
				afternoon()
				m := boardOf(t, pulsedShop(time.Now()), size[0], size[1])
				press(m, "1")
				press(m, c.keys...)
				if got := screen(m); len(c.keys) > c.most || !inOrder(got, c.shows...) {
					t.Errorf("%s, %v: %d keys of %d, and no %q in\n%s", c.name, size, len(c.keys), c.most, c.shows, got)
				}
			})
		}
	}
}
