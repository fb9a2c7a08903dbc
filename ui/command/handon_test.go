package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
)

// What an action does on the board is tested where the board is; here is what leaves it.
func TestWhatLeavesTheBoardArrives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.settings.PollShare, w.settings.NoOpen = 1, true
	var ids []string
	for i := range 4 {
		id := made(t, w.service, simulator.Order{
			ProductURL: fmt.Sprintf("https://shop.example/products/item-%02d", i), State: api.AwaitingConfirmation,
		})
		ids = append(ids, id)
	}
	w.openBoard(t, 200, 60)
	w.screen.waitFor(t, `awaiting 4\b`, `relay ● live`, `▌Item`)
	w.screen.waitGone(t, `unread`)
	for id, do := range handOnCases() {
		ok := t.Run(string(id), func(t *testing.T) {
			do(&hand{T: t, world: w, actions: action.Default(), ids: ids})
		})
		if !ok {
			text, _ := w.screen.text()
			t.Fatalf("left the board as\n%s", text)
		}
	}
}

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

func (h *hand) typed(text string) { h.Helper(); h.world.screen.press(h.T, text) }

func (h *hand) see(patterns ...string) string {
	h.Helper()
	return h.world.screen.waitFor(h.T, patterns...)
}

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

// handOnCases are those of what leaves the board: for a browser, a clipboard or a file.
func handOnCases() map[action.ID]func(h *hand) {
	return map[action.ID]func(h *hand){
		action.OpenLink: func(h *hand) {
			number, _ := h.under()
			h.act(action.OpenLink)
			h.see(`╭─ Copy the link`, `Product page`)
			h.typed("\r")
			h.see(`asked the terminal to copy it, as opening links is switched off \(no_open\): .*shop\.example`)
			h.copied(fmt.Sprintf("https://shop.example/products/item-%02d", number))
		},
		action.Export: func(h *hand) {
			_, id := h.under()
			h.act(action.Export)
			h.see(`Markdown written, asked the terminal to copy its path: `)
			path, text := h.written("exports/*.md")
			h.copied(path)
			if !strings.Contains(text, "- Intent: `"+id+"`") {
				h.Errorf("%s is not in\n%s", id, text)
			}
		},
		action.ExportAs: func(h *hand) {
			h.act(action.ExportAs)
			h.see(`╭─ Export the intent`, `▸ Markdown file`)
			h.typed("G")
			h.see(`▸ JSON file`)
			h.typed("\r")
			h.see(`JSON written, asked the terminal to copy its path`)
			path, _ := h.written("exports/*.json")
			h.copied(path)
		},
		action.CopyPosition: func(h *hand) {
			_, id := h.under()
			command := "tillwatch watch --at intent:" + id
			h.act(action.CopyPosition)
			h.see(`asked the terminal to copy: ` + command)
			h.copied(command)
		},
		action.Record: func(h *hand) {
			h.act(action.Record)
			h.see(`✓ recording: `)
			h.act(action.Record)
			h.see(`✓ recorded \S+ in .*: tillwatch replay `)
			h.written("recordings/*.tillwatch")
		},
	}
}

// under is the number and the id of the intent under the cursor.
func (h *hand) under() (number int, id string) {
	h.Helper()
	number, err := strconv.Atoi(strings.TrimPrefix(h.cursor(), "Item "))
	if err != nil {
		h.Fatal(err)
	}
	return number, h.ids[number]
}

// copied waits until a text is in the clipboard of the terminal.
func (h *hand) copied(text string) {
	h.Helper()
	h.world.screen.waitWritten(h.T, ansi.SetSystemClipboard(text))
}

// written is the one file of the state folder that a pattern finds.
func (h *hand) written(pattern string) (path, text string) {
	h.Helper()
	found, err := filepath.Glob(filepath.Join(h.world.settings.StateDir, filepath.FromSlash(pattern)))
	if err != nil || len(found) != 1 {
		h.Fatalf("%s finds %q, %v: want one file", pattern, found, err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil || len(content) == 0 {
		h.Fatalf("%s has %d bytes, %v", found[0], len(content), err)
	}
	return found[0], string(content)
}
