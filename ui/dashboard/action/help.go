package action

import (
	"cmp"
	"slices"
)

// Section is a group of the help with its actions.
type Section struct {
	Group   Group
	Actions []Action
}

// mostCommon is the number of actions in the help's first section.
const mostCommon = 12

// Help lists all actions: the most needed ones by their footer rank, then the rest by
// group, in the table's order.
func (t *Table) Help() []Section {
	common := Section{Group: Common}
	for _, a := range slices.Concat(t.useful(Board), t.useful(Detail)) {
		inPlaces := a.ID == Acknowledge || a.ID == ClearFilter // not on the whole board
		if !isIn(common.Actions, a.ID) && !inPlaces {
			common.Actions = append(common.Actions, a)
		}
	}
	slices.SortStableFunc(common.Actions, func(a, b Action) int { return cmp.Compare(a.rank, b.rank) })
	common.Actions = common.Actions[:min(mostCommon, len(common.Actions))]
	sections := []Section{common}
	for _, group := range Groups() {
		section := Section{Group: group}
		for _, a := range t.actions {
			if a.Group == group && !isIn(common.Actions, a.ID) {
				section.Actions = append(section.Actions, a)
			}
		}
		if len(section.Actions) > 0 {
			sections = append(sections, section)
		}
	}
	return sections
}

func isIn(actions []Action, id ID) bool {
	return slices.ContainsFunc(actions, func(a Action) bool { return a.ID == id })
}
