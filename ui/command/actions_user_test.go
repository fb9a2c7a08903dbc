package command

import (
	"regexp"
	"testing"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
)

// hand is a person at a board on an emulated screen, with the intents of a
// stand-in service on it.
type hand struct {
	*testing.T
	world   *world
	actions *action.Table
	ids     []string
}

// act presses the key of an action.
func (h *hand) act(ids ...action.ID) {
	h.Helper()
	for _, id := range ids {
		a, ok := h.actions.Action(id)
		if !ok || len(a.Keys) == 0 {
			h.Fatalf("the action %q has no key", id)
		}
		h.world.screen.press(h.T, actiontest.Bytes(a.Keys[0]))
	}
}

// toAwaiting moves the cursor to the top of the second lane, wherever it is.
func (h *hand) toAwaiting() {
	h.Helper()
	h.act(action.Left, action.Left, action.Left, action.Left, action.Right, action.Top)
}

func (h *hand) typed(text string) { h.Helper(); h.world.screen.press(h.T, text) }

func (h *hand) see(patterns ...string) string {
	h.Helper()
	return h.world.screen.waitFor(h.T, patterns...)
}

func (h *hand) gone(pattern string) { h.Helper(); h.world.screen.waitGone(h.T, pattern) }

// agree confirms what a dialog asks, and waits for what that leads to.
func (h *hand) agree(pattern string) { h.Helper(); h.world.screen.agree(h.T, "C", pattern) }

var underCursor = regexp.MustCompile(`▌(Item \d\d)`)

func itemAt(text string) string {
	found := underCursor.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}

// cursor is the intent under the cursor.
func (h *hand) cursor() string {
	h.Helper()
	return itemAt(h.see(underCursor.String()))
}

// moves presses the key of an action and waits until the cursor is on another
// intent, which it returns.
func (h *hand) moves(id action.ID) string {
	h.Helper()
	before := h.cursor()
	h.act(id)
	return itemAt(h.world.screen.waitUntil(h.T, "the cursor elsewhere than on "+before, func(text string) bool {
		at := itemAt(text)
		return at != "" && at != before
	}))
}

func (h *hand) closeDetail() { h.Helper(); h.act(action.Back); h.gone(`▌?INTENT  ci_`) }

func (h *hand) escape(pattern string) { h.Helper(); h.typed("\x1b"); h.gone(pattern) }

// jumpTo opens the detail of an intent by its id.
func (h *hand) jumpTo(id string) {
	h.Helper()
	h.act(action.Jump)
	h.see(`(?i)id.*▏`)
	h.typed(id + "\r")
	h.see(`▌INTENT  ` + id)
}
