// Package table is a windowed list of rows: ordered, filtered, with a cursor that
// is an identity and not an index. It draws nothing: a pane asks for the window
// and draws that alone.
package table

import (
	"cmp"
	"maps"
	"slices"
	"sort"
)

// Edge is the end of a table at which its newest rows, or those that matter
// most, stand.
type Edge uint8

// The edges.
const (
	Top Edge = iota
	Bottom
)

// Config says what a row is.
type Config[T any] struct {
	Key     func(T) string    // identity
	Compare func(a, b T) int  // order; ties are broken by Key
	Home    Edge              // where the cursor rests until it is moved
	Limit   int               // rows kept; the first by Compare go first, whatever SetCompare says; 0 means all
	Match   func(T, any) bool // whether a row passes the filter that SetFilter was given
}

// Table holds rows of T. The cursor rests at the home edge, and follows it,
// until it is moved elsewhere; from then on it stays on its row, wherever that
// goes, until it is moved back to the edge. The zero Table is not usable.
type Table[T any] struct {
	cfg    Config[T]
	order  func(a, b T) int // in force; nil: Compare
	rows   []T              // all, in order
	byKey  map[string]T
	filter any // nil: all rows are shown
	shown  []T // what passes the filter, in order; rows itself without one

	pinned bool
	key    string // the cursor's row, while pinned
	index  int    // of the cursor in shown
	offset int    // of the window in shown
	height int    // rows in the window
}

// New makes an empty table.
func New[T any](cfg Config[T]) *Table[T] {
	return &Table[T]{cfg: cfg, height: 1, byKey: map[string]T{}}
}

// bulk is the size of a batch from which it is cheaper to put all rows together
// anew than to move row by row.
const bulk = 64

// Upsert adds rows, and replaces those that are known by their key. Only what
// changed is sorted again.
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
	fresh := make(map[string]T, len(rows)) // of several rows of one key the last
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

// oldest is the first row by the table's own order.
func (t *Table[T]) oldest() T {
	if t.order == nil {
		return t.rows[0]
	}
	return slices.MinFunc(t.rows, t.compareOwn)
}

// Remove takes a row out. An unknown key is ignored.
func (t *Table[T]) Remove(key string) {
	old, ok := t.Get(key)
	if !ok {
		return
	}
	t.drop(old)
	delete(t.byKey, key)
	t.settle()
}

// Clear takes all rows out and forgets the cursor.
func (t *Table[T]) Clear() {
	clear(t.byKey)
	t.rows, t.shown, t.pinned, t.key, t.index, t.offset = nil, nil, false, "", 0, 0
	t.settle()
}

// Forget takes all rows out. The cursor returns to its row, should that come
// back.
func (t *Table[T]) Forget() {
	clear(t.byKey)
	t.rows, t.shown = nil, nil
	t.index, t.offset = 0, 0
	t.settle()
}

// Get returns the row of a key.
func (t *Table[T]) Get(key string) (T, bool) {
	row, ok := t.byKey[key]
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

// Total is how many rows there are.
func (t *Table[T]) Total() int { return len(t.rows) }

// Shown is how many rows pass the filter.
func (t *Table[T]) Shown() int { return len(t.shown) }

// All returns every row, in order. It must not be changed.
func (t *Table[T]) All() []T { return t.rows }

// Found returns the rows that pass the filter, in order. It must not be changed.
func (t *Table[T]) Found() []T { return t.shown }

// Window returns the rows that are to be drawn and the index of the first.
func (t *Table[T]) Window() (rows []T, first int) {
	end := min(t.offset+t.height, len(t.shown))
	return t.shown[t.offset:end], t.offset
}

// SetCompare orders the rows anew; nil is the table's own order again. Ties are
// broken by their keys.
func (t *Table[T]) SetCompare(compare func(a, b T) int) {
	t.order = compare
	slices.SortFunc(t.rows, t.compare)
	t.SetFilter(t.filter)
}

// SetHeight sets how many rows the window has.
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

// CursorKey is the key of that row; "" where there is none.
func (t *Table[T]) CursorKey() string {
	if row, ok := t.Cursor(); ok {
		return t.cfg.Key(row)
	}
	return ""
}

// Index is where the cursor stands among the shown rows.
func (t *Table[T]) Index() int { return t.index }

// Pinned reports whether the cursor has left the home edge.
func (t *Table[T]) Pinned() bool { return t.pinned }

// Move moves the cursor by delta rows, and stops at the ends.
func (t *Table[T]) Move(delta int) { t.MoveTo(t.index + delta) }

// Page is how many rows the cursor goes where it moves by a window.
func (t *Table[T]) Page() int { return max(t.height-1, 1) }

// Pick puts the cursor on a row of the window, and reports whether there are so many.
func (t *Table[T]) Pick(row int) bool {
	rows, first := t.Window()
	if row < 0 || row >= len(rows) {
		return false
	}
	t.MoveTo(first + row)
	return true
}

// MoveTo puts the cursor on a row by its index, as near as there is one.
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

// Select puts the cursor on the row of a key and reports whether it is shown.
func (t *Table[T]) Select(key string) bool {
	i, ok := t.Find(key)
	if ok {
		t.MoveTo(i)
		t.pinned, t.key = true, key
	}
	return ok
}

// Scroll moves the window by delta rows; the cursor goes along.
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
	return sort.Search(len(rows), func(i int) bool { return t.compare(rows[i], row) >= 0 })
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
	if i == 0 { // a tail that loses its oldest row moves nothing
		var none T
		rows[0] = none
		return rows[1:]
	}
	return slices.Delete(rows, i, i+1)
}

// Find is where the row of a key stands among the shown rows, if it does.
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

// settle puts the cursor back on its row and the window around the cursor, so
// that the row keeps its place on the screen where it can.
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
	default: // the row is gone: stay where it was
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
