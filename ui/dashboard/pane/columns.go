package pane

import "slices"

// Hide leaves columns out, by their names. Unknown names do no harm.
func (f *frame) Hide(columns []string) {
	f.hidden, f.stale = slices.Clone(columns), true
}

// Hidden lists the columns that are left out.
func (f *frame) Hidden() []string { return f.hidden }

// Columns are those that can be left out.
func (f *frame) Columns() []string { return f.columns }

// has reports whether a column is to be drawn where there is room.
func (f *frame) has(column string) bool {
	return len(f.hidden) == 0 || !slices.Contains(f.hidden, column)
}

// The columns that can be left out.
const (
	merchantColumn = "merchant"
	totalColumn    = "total"
	outcomeColumn  = "outcome"
	ageColumn      = "age"
	trackingColumn = "tracking"
	estimateColumn = "estimate"
	resetsColumn   = "resets"
	rateColumn     = "own and others"
	historyColumn  = "history"
	idColumn       = "id"
	notesColumn    = "notes"
	seqColumn      = "seq"
	classColumn    = "class"
	spenderColumn  = "by"
	attemptColumn  = "attempt"
	waitedColumn   = "waited"
	targetColumn   = "target"
	nextColumn     = "next"
)
