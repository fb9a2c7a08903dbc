package action

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Remap returns a table in which the named actions have the given keys instead of
// their own. An empty list removes an action's keys; the palette keeps the action.
// ctrl+c always quits, and quit, help and palette keep a key that every terminal
// sends. The error joins all mistakes, one per line, each with its action and key.
func (t *Table) Remap(keys map[ID][]string) (*Table, error) {
	var wrong []error
	actions := t.Actions()
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		at, ok := t.byID[id]
		if !ok {
			wrong = append(wrong, fmt.Errorf("there is no action %q: %s", id, t.suggest(id)))
			continue
		}
		if len(keys[id]) == 0 && slices.Contains(needed(), id) {
			wrong = append(wrong, fmt.Errorf("action %q needs a key: it cannot be reached without one", id))
			continue
		}
		if slices.Contains(needed(), id) && !slices.ContainsFunc(keys[id], mayBeTyped) {
			wrong = append(wrong, fmt.Errorf("action %q is only on %q, which many terminals cannot send: add a key that all of them send, such as %q",
				id, strings.Join(keys[id], ", "), t.actions[at].Keys[0]))
		}
		actions[at].Keys = slices.Clone(keys[id])
		if id == Quit {
			actions[at].Keys = append(actions[at].Keys, alwaysQuits)
		}
		if id != Quit && slices.ContainsFunc(keys[id], isAlwaysQuits) {
			wrong = append(wrong, fmt.Errorf("action %q: key %q always quits: choose another", id, alwaysQuits))
			actions[at].Keys = slices.DeleteFunc(actions[at].Keys, isAlwaysQuits)
		}
	}
	table, err := NewTable(actions)
	if err = errors.Join(append(wrong, err)...); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return table, nil
}

const alwaysQuits = "ctrl+c"

func isAlwaysQuits(text string) bool {
	key, err := ParseKey(text)
	return err == nil && key == alwaysQuits
}

func needed() []ID { return []ID{Quit, Help, Palette} }

// suggest names the actions that start like id, or all.
func (t *Table) suggest(id ID) string {
	const beginning = 3
	var near, all []string
	for _, a := range t.actions {
		all = append(all, string(a.ID))
		if len(id) >= beginning && strings.HasPrefix(string(a.ID), string(id[:beginning])) {
			near = append(near, string(a.ID))
		}
	}
	if len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "the actions are " + strings.Join(all, ", ")
}
