package table

import (
	"slices"
	"sort"
)

// smallShare is the part of a table up to which a batch is merged into it. A
// larger one is faster sorted with everything else.
const smallShare = 4

// upsertMany adds and replaces many rows at once.
func (t *Table[T]) upsertMany(rows []T) {
	overflows := t.cfg.Limit > 0 && len(t.rows)+len(rows) > t.cfg.Limit
	if len(rows)*smallShare > len(t.rows) || overflows && t.order != nil {
		t.rebuild(rows)
	} else {
		t.merge(rows)
	}
	t.SetFilter(t.filter)
}

// rebuild sorts everything again.
func (t *Table[T]) rebuild(rows []T) {
	for _, row := range rows {
		t.byKey[t.cfg.Key(row)] = row
	}
	t.rows = make([]T, 0, len(t.byKey))
	for _, row := range t.byKey {
		t.rows = append(t.rows, row)
	}
	slices.SortFunc(t.rows, t.compareOwn)
	if t.cfg.Limit > 0 && len(t.rows) > t.cfg.Limit {
		cut := len(t.rows) - t.cfg.Limit
		for _, row := range t.rows[:cut] {
			delete(t.byKey, t.cfg.Key(row))
		}
		t.rows = slices.Clone(t.rows[cut:])
	}
	if t.order != nil {
		slices.SortFunc(t.rows, t.compare)
	}
}

// merge sorts the batch alone, takes out what it replaces and puts it in where it
// belongs. Rows beyond the limit, if any, are the first.
func (t *Table[T]) merge(rows []T) {
	fresh, gone := t.replace(rows)
	slices.SortFunc(fresh, t.compare)
	if last := len(t.rows) - 1; len(gone) == 0 && t.compare(t.rows[last], fresh[0]) < 0 {
		t.rows = append(t.rows, fresh...) // a tail moves nothing
	} else {
		t.rows = t.insert(t.without(gone), fresh, len(t.rows)-len(gone)+len(fresh))
	}
	if cut := len(t.rows) - t.cfg.Limit; t.cfg.Limit > 0 && cut > 0 {
		for _, row := range t.rows[:cut] {
			delete(t.byKey, t.cfg.Key(row))
		}
		clear(t.rows[:cut])
		t.rows = t.rows[cut:]
	}
}

// replace makes rows known by their keys, of several of one key the last. It
// returns those, and where in the table the rows stand that they replace.
func (t *Table[T]) replace(rows []T) (fresh []T, gone []int) {
	seen := make(map[string]struct{}, len(rows))
	fresh = make([]T, 0, len(rows))
	for _, row := range slices.Backward(rows) {
		key := t.cfg.Key(row)
		if _, again := seen[key]; again {
			continue
		}
		seen[key] = struct{}{}
		fresh = append(fresh, row)
		if old, known := t.byKey[key]; known {
			if i := t.search(t.rows, old); i < len(t.rows) && t.cfg.Key(t.rows[i]) == key {
				gone = append(gone, i)
			}
		}
		t.byKey[key] = row
	}
	slices.Sort(gone)
	return fresh, gone
}

// without lists the runs of rows between those that are gone.
func (t *Table[T]) without(gone []int) [][]T {
	runs := make([][]T, 0, len(gone)+1)
	from := 0
	for _, i := range gone {
		if i > from {
			runs = append(runs, t.rows[from:i])
		}
		from = i + 1
	}
	return append(runs, t.rows[from:])
}

// insert puts runs of rows and fresh ones, all of them in order, together.
func (t *Table[T]) insert(runs [][]T, fresh []T, total int) []T {
	out := make([]T, 0, total)
	for _, run := range runs {
		for len(fresh) > 0 && len(run) > 0 {
			before := sort.Search(len(run), func(i int) bool { return t.compare(run[i], fresh[0]) >= 0 })
			out = append(out, run[:before]...)
			if run = run[before:]; len(run) == 0 {
				break
			}
			out, fresh = append(out, fresh[0]), fresh[1:]
		}
		out = append(out, run...)
	}
	return append(out, fresh...)
}
