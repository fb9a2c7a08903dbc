// Package actiontest simulates a user who presses keys at random, for tests of the
// model and of the program on a terminal.
package actiontest

import (
	"strings"

	"pgregory.net/rapid"

	"tillwatch/ui/dashboard/action"
)

// Hand is the simulated user. Its moves come from the table of actions, so a new
// action is tried at once.
type Hand struct {
	Actions *action.Table
	IDs     func() []string // known ids; nil: none
}

// Moves are the hand's moves by name. Each draws the keys to press.
func (h Hand) Moves() map[string]func(*rapid.T) []string {
	moves := map[string]func(*rapid.T) []string{
		"several keys": h.several, "any key": anyKey,
		"a filter": h.filter, "through the palette": h.choose, "an id to go to": h.goTo,
	}
	for _, a := range h.Actions.Actions() {
		if len(a.Keys) > 0 {
			moves["key of "+string(a.ID)] = func(t *rapid.T) []string { return []string{rapid.SampledFrom(a.Keys).Draw(t, "key")} }
		}
	}
	return moves
}

// Key is an action's key, or a harmless key if it has none.
func (h Hand) Key(id action.ID) string {
	if a, ok := h.Actions.Action(id); ok && len(a.Keys) > 0 {
		return a.Keys[0]
	}
	return "esc"
}

func (h Hand) several(t *rapid.T) []string {
	var keys []string
	for _, a := range h.Actions.Actions() {
		keys = append(keys, a.Keys...)
	}
	return rapid.SliceOfN(rapid.SampledFrom(keys), 2, 8).Draw(t, "keys")
}

func anyKey(t *rapid.T) []string {
	keys := []string{"enter", "esc", "backspace", "ctrl+u", "ctrl+w", "delete", "tab", "shift+tab", "up", "down", "C", "y", "n", "pgdown", "é", "日", "f5", "ctrl+n", "alt+x"}
	return []string{rapid.SampledFrom(keys).Draw(t, "key")}
}

// filter types a filter, and then leaves it open, sets it, drops it or undoes it.
func (h Hand) filter(t *rapid.T) []string {
	terms := []string{"wool", "mug", "!a", "state:failed", "state:await", "state:failed,completed", "age>10m", "age<1m", "age>10", "total>10", "total<50usd", "quantity>1", "colour:red", `"wool so`, "merchant:acme", "type:ship", "404", "日", "!", "id:ci_"}
	typed := strings.Join(rapid.SliceOfN(rapid.SampledFrom(terms), 1, 3).Draw(t, "terms"), " ")
	keys := append([]string{h.Key(action.Filter)}, Typed(typed)...)
	if end := rapid.SampledFrom([]string{"", "enter", "esc", "ctrl+u", "backspace"}).Draw(t, "and then"); end != "" {
		keys = append(keys, end)
	}
	return keys
}

// choose performs an action by its name.
func (h Hand) choose(t *rapid.T) []string {
	title := rapid.SampledFrom(h.Actions.Actions()).Draw(t, "action").Title
	keys := append([]string{h.Key(action.Palette)}, Typed(title[:rapid.IntRange(1, len(title)).Draw(t, "letters")])...)
	for range rapid.IntRange(0, 2).Draw(t, "further down") {
		keys = append(keys, "down")
	}
	return append(keys, "enter")
}

func (h Hand) goTo(t *rapid.T) []string {
	id := Text().Draw(t, "id")
	if h.IDs != nil && rapid.Bool().Draw(t, "known") {
		if known := h.IDs(); len(known) > 0 {
			id = rapid.SampledFrom(known).Draw(t, "intent")
		}
	}
	return append(append([]string{h.Key(action.Jump)}, Typed(id)...), "enter")
}

// Text is anything that somebody may type or paste, or that a product may be called.
func Text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"Mug", "Wool Socks", "Desk Lamp", "", "日本語の本", "e\u0301vil \x1b]0;x\x07", "👨‍👩‍👧 set", "🇺🇸 flag", "\u202eab", "한국어", "ﷺ", "ka\u0301mera\u200b",
			"a name that goes on and on, for longer than any column is wide, and then some more of it", "\x9b31m\r\nred", "https://acme.example/x?y=z", "ci_00000001",
		}),
		rapid.StringN(0, 12, 40),
	)
}

// Size is that of a terminal: often one that people have, sometimes any.
func Size(t *rapid.T) (width, height int) {
	if rapid.IntRange(0, 2).Draw(t, "any size") == 0 {
		return rapid.IntRange(1, 240).Draw(t, "width"), rapid.IntRange(1, 70).Draw(t, "height")
	}
	size := rapid.SampledFrom([][2]int{{160, 45}, {80, 24}, {200, 55}, {120, 36}, {108, 30}, {40, 12}, {240, 70}, {149, 20}}).Draw(t, "size")
	return size[0], size[1]
}
