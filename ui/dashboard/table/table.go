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
	Home    Edge              // where the cursor rests until it is moved
	Limit   int               // the most rows: of more, the first by Compare are dropped, even under SetCompare; 0: no limit
	Match   func(T, any) bool // whether a row passes the filter of SetFilter
}

// Table holds rows of type T. The cursor rests at the home edge, and follows it, until it
// is moved. From then on it stays on its row, wherever that goes, until it is moved back
// to the edge. Create a Table with [New].
type Table[T any] struct {
	cfg    Config[T]
	order  func(a, b T) int // of SetCompare; nil: Compare
	rows   []T              // all, sorted
	byKey  map[string]T
	filter any // nil: all rows are shown
	shown  []T // those that pass the filter, sorted; rows itself without a filter

	pinned bool   // the cursor has left the home edge
	key    string // the cursor's row, while pinned
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
	t.rows, t.shown, t.pinned, t.key, t.index, t.offset = nil, nil, false, "", 0, 0
	t.settle()
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

// Cursor returns the row under the cursor, if there is any.
func (t *Table[T]) Cursor() (row T, ok bool) {
	if t.index < len(t.shown) {
		return t.shown[t.index], true
	}
	return row, false
}

// CursorKey returns the key of that row; "" if there is none.
func (t *Table[T]) CursorKey() string {
	if row, ok := t.Cursor(); ok {
		return t.cfg.Key(row)
	}
	return ""
}

// Index returns the index of the cursor among the shown rows.
func (t *Table[T]) Index() int { return t.index }

// Pinned reports whether the cursor has left the home edge.
func (t *Table[T]) Pinned() bool { return t.pinned }

// Move moves the cursor by delta rows; it stops at the ends.
func (t *Table[T]) Move(delta int) { t.MoveTo(t.index + delta) }

// Page returns the number of rows by which page up and page down move.
func (t *Table[T]) Page() int { return max(t.height-1, 1) }

// Pick puts the cursor on a row of the window. It returns false if there is no such row.
func (t *Table[T]) Pick(row int) bool {
	rows, first := t.Window()
	if row < 0 || row >= len(rows) {
		return false
	}
	t.MoveTo(first + row)
	return true
}

// MoveTo puts the cursor on the row with an index, or the nearest one.
func (t *Table[T]) MoveTo(index int) {
	if len(t.shown) == 0 {
		t.pinned = false
		t.settle()
		return
	}
	t.index = min(max(index, 0), len(t.shown)-1)
	t.key = t.cfg.Key(t.shown[t.index])
	t.pinned = t.index != t.home()
	t.settle()
}

// Select puts the cursor on the row with a key. It returns false if that is not shown.
func (t *Table[T]) Select(key string) bool {
	i, ok := t.Find(key)
	if ok {
		t.MoveTo(i)
		t.pinned, t.key = true, key
	}
	return ok
}

// Scroll moves the window by delta rows, with the cursor.
func (t *Table[T]) Scroll(delta int) {
	limit := max(len(t.shown)-t.height, 0)
	offset := min(max(t.offset+delta, 0), limit)
	moved := offset - t.offset
	t.offset = offset
	if moved == 0 {
		moved = delta
	}
	t.Move(moved)
}

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

// Find returns the index of the row with a key among the shown rows.
func (t *Table[T]) Find(key string) (index int, ok bool) {
	row, ok := t.Get(key)
	if !ok {
		return 0, false
	}
	i := t.search(t.shown, row)
	return i, i < len(t.shown) && t.cfg.Key(t.shown[i]) == key
}

func (t *Table[T]) home() int {
	if t.cfg.Home == Bottom {
		return max(len(t.shown)-1, 0)
	}
	return 0
}

// settle puts the cursor back on its row, and the window around it. If possible the row
// keeps its place on the screen.
func (t *Table[T]) settle() {
	if t.filter == nil {
		t.shown = t.rows
	}
	before := t.index
	switch i, ok := t.Find(t.key); {
	case !t.pinned:
		t.index = t.home()
	case ok:
		t.index = i
	default: // the row is gone: stay at its place
		t.index = min(before, max(len(t.shown)-1, 0))
		if t.index < len(t.shown) {
			t.key = t.cfg.Key(t.shown[t.index])
		}
	}
	if t.pinned && t.offset > 0 {
		t.offset += t.index - before
	}
	t.offset = min(t.offset, t.index)
	t.offset = max(t.offset, t.index-t.height+1)
	t.offset = max(min(t.offset, len(t.shown)-t.height), 0)
}
