// Package table is a windowed list of rows: sorted, filtered, with a cursor that is an
// identity and not an index. It draws nothing: a pane draws only the window.
package table

import (
	"cmp"
	"maps"
	"slices"
)

// Edge is the end of a table where its newest or most important rows are.
type Edge uint8

// The edges.
const (
	Top Edge = iota
	Bottom
)

// Config configures a [Table] of rows of type T.
type Config[T any] struct {
	Key     func(T) string    // identity
	Compare func(a, b T) int  // order; Key breaks ties
	Home    Edge              // where the window rests, and the cursor until it is held
	Limit   int               // the most rows: of more, the first by Compare are dropped, even under SetCompare; 0: no limit
	Match   func(T, any) bool // whether a row passes the filter of SetFilter
}

// Table holds rows of type T. The cursor rests at the home edge until it is moved or held.
// From then on it stays on its row, wherever that goes. The window stays at the home edge until
// the cursor is moved away from it: a held row may go out of sight, and then no row is under the
// cursor. Create a Table with [New].
type Table[T any] struct {
	cfg    Config[T]
	order  func(a, b T) int // of SetCompare; nil: Compare
	rows   []T              // all, sorted
	byKey  map[string]T
	filter any // nil: all rows are shown
	shown  []T // those that pass the filter, sorted; rows itself without a filter

	pinned bool   // the cursor was moved away from the home edge: the window stays around it
	held   bool   // the cursor stays on its row, as it does while pinned
	key    string // the cursor's row, while held
	index  int    // of the cursor in shown
	offset int    // of the window in shown
	height int    // rows in the window
}

// New returns an empty table.
func New[T any](cfg Config[T]) *Table[T] {
	return &Table[T]{cfg: cfg, height: 1, byKey: map[string]T{}}
}

// bulk is the number of rows above which sorting everything is cheaper than inserting row
// by row.
const bulk = 64

// Upsert adds rows, and replaces those with the same key. It moves only changed rows.
func (t *Table[T]) Upsert(rows ...T) {
	if len(rows) > bulk {
		t.upsertMany(rows)
	} else {
		for _, row := range rows {
			key := t.cfg.Key(row)
			if old, ok := t.byKey[key]; ok {
				t.drop(old)
			}
			t.byKey[key] = row
			t.rows = t.place(t.rows, row)
			if t.filter != nil && t.cfg.Match(row, t.filter) {
				t.shown = t.place(t.shown, row)
			}
		}
	}
	for t.cfg.Limit > 0 && len(t.rows) > t.cfg.Limit {
		t.Remove(t.cfg.Key(t.oldest()))
	}
	t.settle()
}

// upsertMany adds and replaces many rows, and sorts all of them once.
func (t *Table[T]) upsertMany(rows []T) {
	fresh := make(map[string]T, len(rows)) // the last one of several with the same key
	for _, row := range rows {
		fresh[t.cfg.Key(row)] = row
	}
	if len(fresh) < len(rows) {
		rows = slices.Collect(maps.Values(fresh))
	}
	if len(t.rows) == 0 {
		t.byKey = fresh
	} else {
		t.rows = slices.DeleteFunc(t.rows, func(row T) bool {
			_, replaced := fresh[t.cfg.Key(row)]
			return replaced
		})
		maps.Copy(t.byKey, fresh)
	}
	t.rows = append(t.rows, rows...)
	if over := len(t.rows) - t.cfg.Limit; t.cfg.Limit > 0 && over > 0 {
		slices.SortFunc(t.rows, t.compareOwn)
		for _, row := range t.rows[:over] {
			delete(t.byKey, t.cfg.Key(row))
		}
		t.rows = slices.Delete(t.rows, 0, over)
	}
	slices.SortFunc(t.rows, t.compare)
	t.SetFilter(t.filter)
}

// oldest returns the first row by Config.Compare.
func (t *Table[T]) oldest() T {
	if t.order == nil {
		return t.rows[0]
	}
	return slices.MinFunc(t.rows, t.compareOwn)
}

// Remove removes a row. It ignores an unknown key.
func (t *Table[T]) Remove(key string) {
	old, ok := t.Get(key)
	if !ok {
		return
	}
	t.drop(old)
	delete(t.byKey, key)
	t.settle()
}

// Clear removes all rows and resets the cursor.
func (t *Table[T]) Clear() {
	clear(t.byKey)
	t.rows, t.shown = nil, nil
	t.Rest()
}

// Forget removes all rows. The cursor returns to its row if that comes back.
func (t *Table[T]) Forget() {
	clear(t.byKey)
	t.rows, t.shown = nil, nil
	t.index, t.offset = 0, 0
	t.settle()
}

// Get returns the row with a key.
func (t *Table[T]) Get(key string) (row T, ok bool) {
	row, ok = t.byKey[key]
	return row, ok
}

// SetFilter shows only the rows that the configured Match accepts with filter;
// nil shows all.
func (t *Table[T]) SetFilter(filter any) {
	t.filter = filter
	if filter != nil {
		t.shown = make([]T, 0, len(t.rows))
		for _, row := range t.rows {
			if t.cfg.Match(row, filter) {
				t.shown = append(t.shown, row)
			}
		}
	}
	t.settle()
}

// Total returns the number of rows.
func (t *Table[T]) Total() int { return len(t.rows) }

// Shown returns the number of rows that pass the filter.
func (t *Table[T]) Shown() int { return len(t.shown) }

// All returns all rows, sorted. The caller must not change the slice.
func (t *Table[T]) All() []T { return t.rows }

// Found returns the rows that pass the filter, sorted. The caller must not change the
// slice.
func (t *Table[T]) Found() []T { return t.shown }

// Window returns the visible rows and the index of the first.
func (t *Table[T]) Window() (rows []T, first int) {
	end := min(t.offset+t.height, len(t.shown))
	return t.shown[t.offset:end], t.offset
}

// SetCompare sorts the rows in another order; nil means Config.Compare. Keys break ties.
func (t *Table[T]) SetCompare(compare func(a, b T) int) {
	t.order = compare
	slices.SortFunc(t.rows, t.compare)
	t.SetFilter(t.filter)
}

// SetHeight sets the number of rows in the window.
func (t *Table[T]) SetHeight(rows int) {
	t.height = max(rows, 1)
	t.settle()
}

// Page returns the number of rows by which page up and page down move.
func (t *Table[T]) Page() int { return max(t.height-1, 1) }

func (t *Table[T]) compare(a, b T) int {
	if t.order == nil {
		return t.compareOwn(a, b)
	}
	if c := t.order(a, b); c != 0 {
		return c
	}
	return cmp.Compare(t.cfg.Key(a), t.cfg.Key(b))
}

func (t *Table[T]) compareOwn(a, b T) int {
	if c := t.cfg.Compare(a, b); c != 0 {
		return c
	}
	return cmp.Compare(t.cfg.Key(a), t.cfg.Key(b))
}

func (t *Table[T]) place(rows []T, row T) []T {
	if n := len(rows); n == 0 || t.compare(rows[n-1], row) < 0 {
		return append(rows, row)
	}
	i := t.search(rows, row)
	return slices.Insert(rows, i, row)
}

func (t *Table[T]) search(rows []T, row T) int {
	i, _ := slices.BinarySearchFunc(rows, row, t.compare)
	return i
}

func (t *Table[T]) drop(row T) {
	t.rows = t.cut(t.rows, row)
	if t.filter != nil {
		t.shown = t.cut(t.shown, row)
	}
}

func (t *Table[T]) cut(rows []T, row T) []T {
	i := t.search(rows, row)
	if i >= len(rows) || t.cfg.Key(rows[i]) != t.cfg.Key(row) {
		return rows
	}
	if i == 0 { // a tail drops its oldest row without moving the others
		var none T
		rows[0] = none
		return rows[1:]
	}
	return slices.Delete(rows, i, i+1)
}

// find returns the index of the row with a key among the shown rows.
func (t *Table[T]) find(key string) (index int, ok bool) {
	row, ok := t.Get(key)
	if !ok {
		return 0, false
	}
	i := t.search(t.shown, row)
	return i, i < len(t.shown) && t.cfg.Key(t.shown[i]) == key
}
