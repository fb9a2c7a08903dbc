package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestRowsThatAreKeptElsewhereStayInOrder has rows change where they are, few and
// many at a time, with and without a filter.
func TestRowsThatAreKeptElsewhereStayInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := make([]int, 400)
		listed := map[int]bool{}
		tab := New(Config[int]{
			Key:     func(i int) string { return fmt.Sprintf("%03d", i) },
			Find:    func(key string) (int, bool) { i, err := strconv.Atoi(key); return i, err == nil },
			Compare: func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) },
			Match:   func(i int, filter any) bool { return i%filter.(int) == 0 },
		})
		tab.SetHeight(5)
		divisor := 1
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			first, n := rapid.IntRange(0, 399).Draw(t, "first"), rapid.IntRange(0, 200).Draw(t, "rows")
			var batch, back []int
			for i := first; i < min(first+n, len(ranks)); i++ {
				batch = append(batch, i)
			}
			tab.Lift(batch)
			leaves := rapid.IntRange(1, 4).Draw(t, "one of so many stays away")
			for _, i := range batch {
				ranks[i] = (ranks[i] + i*7919) % 97
				listed[i] = i%leaves > 0 || leaves == 1
				if listed[i] {
					back = append(back, i)
				}
			}
			tab.Upsert(back...)
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				divisor = rapid.IntRange(2, 5).Draw(t, "divisor")
				tab.SetFilter(divisor)
			case 1:
				divisor = 1
				tab.SetFilter(nil)
			case 2:
				tab.Move(rapid.IntRange(-9, 9).Draw(t, "move"))
			}
			var want []int
			for i, in := range listed {
				if in && i%divisor == 0 {
					want = append(want, i)
				}
			}
			slices.SortFunc(want, func(a, b int) int { return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(a, b)) })
			if !slices.Equal(tab.shown, want) {
				t.Fatalf("shown %v, want %v", tab.shown, want)
			}
			if under, ok := tab.Cursor(); ok && tab.Pinned() && tab.cfg.Key(under) != tab.key {
				t.Fatalf("the cursor is on %d, not on %s", under, tab.key)
			}
		}
	})
}
