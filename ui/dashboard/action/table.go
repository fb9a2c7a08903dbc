package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Table holds the actions and finds them by key and by ID. It is immutable.
type Table struct {
	actions []Action
	byID    map[ID]int
	byKey   map[string][]int
}

// NewTable makes a table of the actions. The error joins all mistakes: a duplicate
// action, an unknown key, two actions on one key.
func NewTable(actions []Action) (*Table, error) {
	t := &Table{byID: make(map[ID]int, len(actions)), byKey: make(map[string][]int)}
	var wrong []error
	for _, a := range actions {
		if _, twice := t.byID[a.ID]; twice {
			wrong = append(wrong, fmt.Errorf("action %q is defined twice", a.ID))
			continue
		}
		keys := make([]string, 0, len(a.Keys))
		for _, text := range a.Keys {
			key, err := ParseKey(text)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("action %q: %w", a.ID, err))
				continue
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		a.Keys = keys
		at := len(t.actions)
		t.actions = append(t.actions, a)
		t.byID[a.ID] = at
		for _, key := range keys {
			t.byKey[key] = append(t.byKey[key], at)
		}
	}
	wrong = append(wrong, t.conflicts()...)
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return t, nil
}

func (t *Table) conflicts() []error {
	var found []error
	for i, a := range t.actions {
		for _, key := range a.Keys {
			for _, other := range t.byKey[key] {
				if b := t.actions[other]; other > i && a.Scope.Overlaps(b.Scope) {
					found = append(found, fmt.Errorf("key %q is on two actions, %q and %q: take it from one of them", key, a.ID, b.ID))
				}
			}
		}
	}
	return found
}

// Actions lists all actions in the order of the table.
func (t *Table) Actions() []Action { return slices.Clone(t.actions) }

// Action returns the action called id.
func (t *Table) Action(id ID) (Action, bool) {
	at, ok := t.byID[id]
	if !ok {
		return Action{}, false
	}
	return t.actions[at], true
}

// KeyOf is an action's key as it is shown, or its ID if it has none.
func (t *Table) KeyOf(id ID) string {
	if a, ok := t.Action(id); ok && a.Key() != "" {
		return a.Key()
	}
	return string(id)
}

// Lookup returns the action of a key in a scope. On a non-Latin keyboard, if the
// terminal reports it, the key's position counts as well, but never for a dangerous
// action.
func (t *Table) Lookup(scope Scope, key tea.KeyPressMsg) (Action, bool) {
	if a, ok := t.find(scope, key.String()); ok {
		return a, true
	}
	if letter, _ := utf8.DecodeRuneInString(key.Text); key.BaseCode == 0 || unicode.Is(unicode.Latin, letter) {
		return Action{}, false
	}
	place := key.Keystroke()
	if letter, ok := strings.CutPrefix(place, "shift+"); ok && utf8.RuneCountInString(letter) == 1 {
		place = strings.ToUpper(letter)
	}
	if a, ok := t.find(scope, place); ok && !a.Dangerous {
		return a, true
	}
	return Action{}, false
}

func (t *Table) find(scope Scope, key string) (Action, bool) {
	for _, at := range t.byKey[key] {
		if a := t.actions[at]; a.Scope.Overlaps(scope) {
			return a, true
		}
	}
	return Action{}, false
}

// OfAnotherScript reports whether a key types a letter, or a sign of one, that is not Latin.
func OfAnotherScript(letter rune) bool {
	return unicode.In(letter, unicode.L, unicode.M) && !unicode.Is(unicode.Latin, letter)
}

// ReadOnlyReason is why a dangerous action is disabled while read-only.
const ReadOnlyReason = "read-only: start with --allow-confirm"

// ReadOnly wraps disabled to disable every dangerous action. disabled gives the
// reason why an action is disabled, or ""; it may be nil.
func (t *Table) ReadOnly(disabled func(ID) string) func(ID) string {
	return func(id ID) string {
		if a, ok := t.Action(id); ok && a.Dangerous {
			return ReadOnlyReason
		}
		return reason(disabled, id)
	}
}

func reason(disabled func(ID) string, id ID) string {
	if disabled == nil {
		return ""
	}
	return disabled(id)
}
