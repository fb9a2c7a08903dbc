package command

import (
	"fmt"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/own"
)

// commandList are commands of one's own, as
//
//	[[command]]
//	key = "alt+n"
//	name = "Note the order"
//	program = "note"
//	args = ["--order", "{order}", "from {merchant}"]
type commandList []own.Command

// read reads a [[command]] table.
func (l *commandList) read(number int, table map[string]any) []error {
	place := fmt.Sprintf("command %d", number)
	c, guarded := own.Command{}, true
	wrong := readTable(place, table, map[string]any{
		"key": &c.Key, "name": &c.Name, "program": &c.Program, "args": &c.Args, "confirm": &guarded, "live": &c.Live,
	})
	c.Unguarded = !guarded
	if err := c.Check(); err != nil {
		wrong = append(wrong, usagef("%s, %q: %w", place, c.Name, err))
	}
	*l = append(*l, c)
	return wrong
}

// keyBindings are the configured keys of actions: the table [keys].
type keyBindings map[action.ID][]string

// actions is the table of actions with the configured keys and commands. The error names
// each unusable action and key.
func (s settings) actions() (*action.Table, error) {
	table, err := action.Default(), error(nil)
	if len(s.Keys) > 0 {
		table, err = table.Remap(s.Keys)
	}
	if err != nil || len(s.Commands) == 0 {
		return table, err
	}
	all := table.Actions()
	for _, c := range s.Commands {
		all = append(all, c.Action())
	}
	if table, err = action.NewTable(all); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return table, nil
}
