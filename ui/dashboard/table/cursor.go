package table

// Rest returns the cursor to the home edge.
func (t *Table[T]) Rest() {
	t.pinned, t.held, t.key = false, false, ""
	t.settle()
}

// Hold keeps the cursor on its row. If no row is under it and back is true, it first returns to
// the home edge; Hold then returns true.
func (t *Table[T]) Hold(back bool) (returned bool) {
	row, ok := t.Cursor()
	if !ok && back {
		t.Rest()
		row, ok = t.Cursor()
		returned = ok
	}
	if ok {
		t.held, t.key = true, t.cfg.Key(row)
	}
	return returned
}

// HoldOn puts the cursor on the row with a key, with the window around it if pinned is true. It
// returns false if that row is not shown.
func (t *Table[T]) HoldOn(key string, pinned bool) bool {
	i, ok := t.find(key)
	if ok {
		t.pinned, t.held, t.key, t.index = pinned, true, key, i
		t.settle()
	}
	return ok
}

// Held returns the key of the row on which the cursor stays; "" if it rests at the home edge.
func (t *Table[T]) Held() string { return t.key }

// Cursor returns the row under the cursor, if there is one in the window.
func (t *Table[T]) Cursor() (row T, ok bool) {
	if rows, first := t.Window(); t.index >= first && t.index < first+len(rows) {
		return t.shown[t.index], true
	}
	return row, false
}

// Index returns the index of the cursor among the shown rows.
func (t *Table[T]) Index() int { return t.index }

// Pinned reports whether the cursor was moved away from the home edge.
func (t *Table[T]) Pinned() bool { return t.pinned }

// Move moves the cursor by delta rows; it stops at the ends. If its row is out of sight, it
// begins at the home edge.
func (t *Table[T]) Move(delta int) {
	from := t.index
	if _, ok := t.Cursor(); !ok && t.cfg.Home == Bottom {
		from = len(t.shown)
	} else if !ok {
		from = -1
	}
	t.MoveTo(from + delta)
}

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
		t.Rest()
		return
	}
	t.index = min(max(index, 0), len(t.shown)-1)
	t.held, t.key = true, t.cfg.Key(t.shown[t.index])
	t.pinned = t.index != t.home()
	t.settle()
}

// Select puts the cursor on the row with a key. It returns false if that is not shown.
func (t *Table[T]) Select(key string) bool { return t.HoldOn(key, true) }

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

func (t *Table[T]) home() int {
	if t.cfg.Home == Bottom {
		return max(len(t.shown)-1, 0)
	}
	return 0
}

// settle puts the cursor back on its row, and the window at the home edge, or around a pinned
// cursor. If possible its row then keeps its place on the screen.
func (t *Table[T]) settle() {
	if t.filter == nil {
		t.shown = t.rows
	}
	before := t.index
	switch i, ok := t.find(t.key); {
	case !t.held:
		t.index = t.home()
	case ok:
		t.index = i
	default: // the row is gone: stay at its place
		t.index = min(before, max(len(t.shown)-1, 0))
		if t.index < len(t.shown) {
			t.key = t.cfg.Key(t.shown[t.index])
		}
	}
	around := t.home()
	if t.pinned {
		around = t.index
	}
	if t.pinned && t.offset > 0 {
		t.offset += t.index - before
	}
	t.offset = min(t.offset, around)
	t.offset = max(t.offset, around-t.height+1)
	t.offset = max(min(t.offset, len(t.shown)-t.height), 0)
}
