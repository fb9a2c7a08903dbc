package pane

import "slices"

// Hide hides columns by their names. It ignores unknown names.
func (f *frame) Hide(columns []string) {
	f.hidden, f.stale = slices.Clone(columns), true
}

// Hidden lists the hidden columns.
func (f *frame) Hidden() []string { return f.hidden }

// Columns lists the columns that can be hidden.
func (f *frame) Columns() []string { return f.columns }

// has reports whether a column is not hidden.
func (f *frame) has(column string) bool {
	return len(f.hidden) == 0 || !slices.Contains(f.hidden, column)
}

// columnWidth returns the width of a column, 0 if it is hidden.
func (f *frame) columnWidth(column string, w int) int {
	if f.has(column) {
		return w
	}
	return 0
}

// The columns that can be hidden.
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
)
