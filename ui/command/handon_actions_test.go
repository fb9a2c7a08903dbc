package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/action"
)

// handOnCases are those of what leaves the board: for a browser, a clipboard or a file.
func handOnCases() []actionCase {
	return []actionCase{
		{action.OpenLink, func(h *hand) {
			number, _ := h.under()
			h.act(action.OpenLink)
			h.see(`╭─ Copy the link`, `Product page`)
			h.typed("\r")
			h.see(`asked the terminal to copy it, as opening links is switched off \(no_open\): .*shop\.example`)
			h.copied(fmt.Sprintf("https://shop.example/products/item-%02d", number))
		}},
		{action.Export, func(h *hand) {
			_, id := h.under()
			h.act(action.Export)
			h.see(`Markdown written, asked the terminal to copy its path: `)
			path, text := h.written("exports/*.md")
			h.copied(path)
			if !strings.Contains(text, "- Intent: `"+id+"`") {
				h.Errorf("%s is not in\n%s", id, text)
			}
		}},
		{action.ExportAs, func(h *hand) {
			h.act(action.ExportAs)
			h.see(`╭─ Export the intent`, `▸ Markdown file`)
			h.typed("G")
			h.see(`▸ JSON file`)
			h.typed("\r")
			h.see(`JSON written, asked the terminal to copy its path`)
			path, _ := h.written("exports/*.json")
			h.copied(path)
		}},
		{action.CopyPosition, func(h *hand) {
			_, id := h.under()
			command := "tillwatch watch --at intent:" + id
			h.act(action.CopyPosition)
			h.see(`asked the terminal to copy: ` + command)
			h.copied(command)
		}},
		{action.Record, func(h *hand) {
			h.act(action.Record)
			h.see(`✓ recording: `)
			h.act(action.Record)
			h.see(`✓ recorded \S+ in .*: tillwatch replay `)
			h.written("recordings/*.tillwatch")
		}},
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
