package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type row struct {
	key  string
	rank int
}

func newTable(home Edge, limit int) *Table[row] {
	return New(Config[row]{
		Key:     func(r row) string { return r.key },
		Compare: func(a, b row) int { return cmp.Compare(a.rank, b.rank) },
		Home:    home, Limit: limit,
		Match: func(r row, filter any) bool { return strings.Contains(r.key, filter.(string)) },
	})
}

func keys(t *Table[row]) string {
	rows, _ := t.Window()
	var out []string
	for _, r := range rows {
		out = append(out, r.key)
	}
	return strings.Join(out, "")
}

func cursor(t *Table[row]) string {
	r, _ := t.Cursor()
	return r.key
}

func TestTheWindowRestsAtTheHomeEdgeUntilTheCursorIsMoved(t *testing.T) {
	tab := newTable(Bottom, 0)
	tab.SetHeight(2)
	for i := range 5 {
		tab.Upsert(row{fmt.Sprint(i), i})
	}
	if got := keys(tab); got != "34" || cursor(tab) != "4" {
		t.Fatalf("window %s, cursor %s: the tail does not follow", got, cursor(tab))
	}
	tab.Move(-1)
	tab.Upsert(row{"5", 5})
	if got := cursor(tab); got != "3" || !tab.Pinned() {
		t.Errorf("cursor on %s after it was moved off, want 3", got)
	}
	if got := keys(tab); got != "34" {
		t.Errorf("window %s, want it to hold still at 34", got)
	}
	tab.MoveTo(99)
	tab.Upsert(row{"6", 6})
	if got := keys(tab); got != "56" || cursor(tab) != "5" {
		t.Errorf("window %s, cursor on %s after it went back to the edge, want 56 and 5", got, cursor(tab))
	}
	tab.Upsert(row{"7", 7})
	if got := keys(tab); got != "67" || tab.CursorKey() != "" {
		t.Errorf("window %s, cursor on %s, want 67 and none in sight", got, tab.CursorKey())
	}
	tab.Move(-1)
	if got := cursor(tab); got != "7" {
		t.Errorf("out of sight, the cursor moved to %s, want it to begin at the edge", got)
	}
}

func TestAHeldCursorStaysOnItsRow(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(tab *Table[row])
		want   string
	}{
		{"a row above comes", func(tab *Table[row]) { tab.Upsert(row{"0", 0}) }, "a"},
		{"its row moves", func(tab *Table[row]) { tab.Upsert(row{"a", 9}) }, "a"},
		{"all rows go and come back", func(tab *Table[row]) { tab.Forget(); tab.Upsert(row{"0", 0}, row{"a", 1}) }, "a"},
		{"another order", func(tab *Table[row]) { tab.SetCompare(func(a, b row) int { return cmp.Compare(b.rank, a.rank) }) }, "a"},
		{"its row goes", func(tab *Table[row]) { tab.Remove("a") }, "b"},
		{"it goes out of sight", func(tab *Table[row]) { tab.Upsert(row{"0", 0}, row{"1", 0}, row{"2", 0}) }, ""},
		{"it comes back into sight", func(tab *Table[row]) {
			tab.Upsert(row{"0", 0}, row{"1", 0}, row{"2", 0})
			tab.Hold(false)
			tab.Remove("1")
		}, "a"},
		{"it goes out of sight and is brought back", func(tab *Table[row]) {
			tab.Upsert(row{"0", 0}, row{"1", 0}, row{"2", 0})
			tab.Hold(true)
			tab.Upsert(row{"3", -1})
		}, "0"},
		{"it is no longer held", func(tab *Table[row]) { tab.Rest(); tab.Upsert(row{"0", 0}) }, "0"},
	} {
		tab := newTable(Top, 0)
		tab.SetHeight(3)
		tab.Upsert(row{"a", 1}, row{"b", 2}, row{"c", 3})
		tab.Hold(false)
		if c.change(tab); tab.CursorKey() != c.want {
			t.Errorf("%s: the cursor is on %q, want %q", c.name, tab.CursorKey(), c.want)
		}
	}
}

func TestTheRowKeepsItsPlaceOnTheScreen(t *testing.T) {
	tab := newTable(Top, 0)
	tab.SetHeight(3)
	for i := range 9 {
		tab.Upsert(row{fmt.Sprint(i), i})
	}
	tab.MoveTo(5)
	before := keys(tab)
	tab.Upsert(row{"x", -1})
	if got := keys(tab); got != before {
		t.Errorf("window jumped from %s to %s when a row came above", before, got)
	}
}

func TestAFilterShowsWhatMatchesAndComesOff(t *testing.T) {
	tab := newTable(Top, 0)
	tab.SetHeight(9)
	tab.Upsert(row{"apple", 1}, row{"bean", 2}, row{"grape", 3})
	tab.Select("grape")
	tab.SetFilter("ap")
	if got := keys(tab); got != "applegrape" || tab.Shown() != 2 || tab.Total() != 3 {
		t.Errorf("filtered: %s, %d of %d", got, tab.Shown(), tab.Total())
	}
	if got := cursor(tab); got != "grape" {
		t.Errorf("cursor on %s, want it to stay on grape", got)
	}
	tab.Upsert(row{"nap", 0}, row{"kale", 0})
	if got := keys(tab); got != "napapplegrape" {
		t.Errorf("after new rows: %s", got)
	}
	tab.SetFilter(nil)
	if tab.Shown() != 5 {
		t.Errorf("shown %d after the filter came off, want 5", tab.Shown())
	}
}

func TestTheOldestGoFirstAtTheLimit(t *testing.T) {
	tab := newTable(Bottom, 3)
	tab.SetHeight(9)
	for i := range 200 {
		tab.Upsert(row{fmt.Sprintf("%03d", i), i})
	}
	if got := keys(tab); got != "197198199" {
		t.Errorf("kept %s", got)
	}
	var many []row
	for i := range 300 {
		many = append(many, row{fmt.Sprintf("%03d", i), i})
	}
	tab.Upsert(many...)
	if got := keys(tab); got != "297298299" || tab.Total() != 3 {
		t.Errorf("kept %s of a batch", got)
	}
	if _, ok := tab.Get("000"); ok {
		t.Error("a dropped row is still known")
	}
	tab.SetCompare(func(a, b row) int { return cmp.Compare(b.rank, a.rank) })
	tab.Upsert(row{"300", 300})
	if got := keys(tab); got != "300299298" {
		t.Errorf("in another order it kept %s", got)
	}
	for i := range many {
		many[i] = row{fmt.Sprintf("%03d", 301+i), 301 + i}
	}
	tab.Upsert(many...)
	if got := keys(tab); got != "600599598" {
		t.Errorf("in another order it kept %s of a batch", got)
	}
	if tab.SetCompare(nil); keys(tab) != "598599600" {
		t.Errorf("in its own order again: %s", keys(tab))
	}
}

func TestATableBehavesLikeASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab, model := newTable(Top, 0), map[string]int{}
		tab.SetHeight(rapid.IntRange(1, 8).Draw(t, "height"))
		filter := ""
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.StringMatching(`[a-e]{1,2}`).Draw(t, "key")
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				rank := rapid.IntRange(0, 5).Draw(t, "rank")
				model[key] = rank
				tab.Upsert(row{key, rank})
			case 2:
				delete(model, key)
				tab.Remove(key)
			case 3:
				tab.Move(rapid.IntRange(-9, 9).Draw(t, "delta"))
			case 4:
				filter = rapid.SampledFrom([]string{"", "a", "zz"}).Draw(t, "filter")
				if filter == "" {
					tab.SetFilter(nil)
				} else {
					tab.SetFilter(filter)
				}
			case 5:
				tab.Scroll(rapid.IntRange(-9, 9).Draw(t, "scroll"))
			}
			var want []row
			for k, r := range model {
				if strings.Contains(k, filter) {
					want = append(want, row{k, r})
				}
			}
			slices.SortFunc(want, func(a, b row) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.key, b.key)) })
			if !slices.Equal(tab.shown, want) && len(want)+len(tab.shown) > 0 {
				t.Fatalf("shown %v, want %v", tab.shown, want)
			}
			rows, first := tab.Window()
			if len(want) > 0 && tab.Pinned() && (tab.Index() < first || tab.Index() >= first+len(rows)) {
				t.Fatalf("cursor %d outside of the window %d+%d", tab.Index(), first, len(rows))
			}
			if held := tab.Held(); tab.CursorKey() != "" && held != "" && tab.CursorKey() != held || first > 0 && !tab.Pinned() {
				t.Fatalf("cursor on %q instead of %q, the window at %d", tab.CursorKey(), held, first)
			}
		}
	})
}

func TestABatchEndsAsItsRowsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 700}).Draw(t, "limit")
		tab, known := newTable(Top, limit), map[string]row{}
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			batch := make([]row, rapid.IntRange(bulk+1, 300).Draw(t, "rows"))
			first, ranks := rapid.IntRange(0, 2000).Draw(t, "first"), rapid.IntRange(1, 4000).Draw(t, "ranks")
			keys := rapid.IntRange(100, 2000).Draw(t, "keys")
			for i := range batch {
				batch[i] = row{fmt.Sprintf("%04d", (first+i*7)%keys), (first + i*i) % ranks}
				known[batch[i].key] = batch[i]
			}
			tab.Upsert(batch...)
			want := slices.SortedFunc(maps.Values(known), tab.compareOwn)
			if limit > 0 && len(want) > limit {
				for _, gone := range want[:len(want)-limit] {
					delete(known, gone.key)
				}
				want = want[len(want)-limit:]
			}
			if !slices.Equal(tab.shown, want) {
				t.Fatalf("%d rows are shown, want %d:\n%v\n%v", tab.Shown(), len(want), tab.shown, want)
			}
			if !maps.Equal(tab.byKey, known) {
				t.Fatalf("%d rows are known, want %d", len(tab.byKey), len(known))
			}
		}
	})
}

// CursorKey returns the key of the row under the cursor; "" if there is none.
func (t *Table[T]) CursorKey() string {
	if row, ok := t.Cursor(); ok {
		return t.cfg.Key(row)
	}
	return ""
}
