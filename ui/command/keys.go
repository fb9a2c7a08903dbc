package command

import "tillwatch/ui/dashboard/action"

// keyBindings are the keys of actions that are not to have their own, as
//
//	[keys]
//	zoom = "Z"
//	copy-id = ["y", "ctrl+y"]
//	next-theme = []
type keyBindings map[action.ID][]string

// table is the actions of the dashboard with these keys. The error names each
// action and key that cannot be.
func (k keyBindings) table() (*action.Table, error) {
	if len(k) == 0 {
		return action.Default(), nil
	}
	return action.Default().Remap(k)
}
