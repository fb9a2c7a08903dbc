package command

import (
	"fmt"
	"maps"
	"slices"

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

// commandFields maps the settings of one command to its fields.
func commandFields(c *own.Command, guarded *bool) map[string]any {
	return map[string]any{"key": &c.Key, "name": &c.Name, "program": &c.Program, "args": &c.Args, "confirm": guarded, "screen": &c.Screen, "live": &c.Live}
}

// parse reads the [[command]] tables of the configuration file.
func (l *commandList) parse(value any) (wrong []error) {
	entries, ok := value.([]any)
	if !ok {
		return []error{invalidValue("command", value, "a list of tables, as in [[command]]")}
	}
	*l = nil
	for i, entry := range entries {
		place := fmt.Sprintf("command %d", i+1)
		table, ok := entry.(map[string]any)
		if !ok {
			wrong = append(wrong, invalidValue(place, entry, "a table, as in [[command]]"))
			continue
		}
		c, guarded := own.Command{}, true
		fields := commandFields(&c, &guarded)
		known := slices.Sorted(maps.Keys(fields))
		for _, key := range slices.Sorted(maps.Keys(table)) {
			switch field, exists := fields[key]; {
			case !exists:
				wrong = append(wrong, usagef("%s: there is no setting %q%s", place, key, suggest(key, known)))
			case !assign(field, table[key]):
				wrong = append(wrong, invalidValue(place+": "+key, table[key], describeKind(field)))
			}
		}
		c.Unguarded = !guarded
		if err := c.Check(); err != nil {
			wrong = append(wrong, usagef("%s, %q: %w", place, c.Name, err))
		}
		*l = append(*l, c)
	}
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
