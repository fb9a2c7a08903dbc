package action

// Section is a group of the help with its actions.
type Section struct {
	Group   Group
	Actions []Action
}

// Help lists all actions by group, in the order of the table.
func (t *Table) Help() []Section {
	var sections []Section
	for _, group := range Groups() {
		section := Section{Group: group}
		for _, a := range t.actions {
			if a.Group == group {
				section.Actions = append(section.Actions, a)
			}
		}
		if len(section.Actions) > 0 {
			sections = append(sections, section)
		}
	}
	return sections
}
