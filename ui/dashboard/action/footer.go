package action

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Hint is an item of the footer: a key and what it does.
type Hint struct {
	ID     ID
	Key    string
	Title  string
	Reason string // why it is disabled; "" if it is not
}

// String is the hint as it stands in the footer.
func (h Hint) String() string {
	if h.Reason == "" {
		return h.Key + " " + h.Title
	}
	return h.Key + " " + h.Title + " — " + h.Reason
}

// width is how many cells [Hint.String] takes.
func (h Hint) width() int { return ansi.StringWidth(h.String()) }

// HintGap is how many blank cells stand between two hints.
const HintGap = 3

// Footer chooses the hints of a scope that are offered and fit into width cells with
// [HintGap] between them, the most useful first, and returns them in the table's
// order, so that they stay in place when the width changes. A disabled action comes
// with its reason up to the colon; pressing its key shows the rest. offers and
// disabled may be nil: then all are offered, and none is disabled.
func (t *Table) Footer(scope Scope, width int, offers func(ID) bool, disabled func(ID) string) []Hint {
	var hints []Hint
	used := 0
	for _, a := range t.useful(scope) {
		if offers != nil && !offers(a.ID) {
			continue
		}
		hint := Hint{ID: a.ID, Key: a.Key(), Title: a.Short}
		hint.Reason, _, _ = strings.Cut(reason(disabled, a.ID), ":")
		room := width - used
		if len(hints) > 0 {
			room -= HintGap
		}
		if hint.width() > room {
			continue
		}
		used = width - room + hint.width()
		hints = append(hints, hint)
	}
	slices.SortFunc(hints, func(a, b Hint) int { return cmp.Compare(t.byID[a.ID], t.byID[b.ID]) })
	return hints
}

func (t *Table) useful(scope Scope) []Action {
	var found []Action
	for _, a := range t.actions {
		if a.Short != "" && len(a.Keys) > 0 && a.Scope.Overlaps(scope) {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b Action) int { return cmp.Compare(a.rank, b.rank) })
	return found
}
