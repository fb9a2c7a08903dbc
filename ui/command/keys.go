package command

import "tillwatch/ui/dashboard/action"

// keyBindings are the configured keys of actions: the table [keys].
type keyBindings map[action.ID][]string

// table is the dashboard's actions with these keys. The error names each unusable
// action and key.
func (k keyBindings) table() (*action.Table, error) {
	if len(k) == 0 {
		return action.Default(), nil
	}
	return action.Default().Remap(k)
}
