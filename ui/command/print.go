package command

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
)

// sheetWidth is how wide a sheet is, in cells.
const sheetWidth = 78

// table prints rows in columns, two blanks apart; the first row is the head. Columns are as wide
// as what a terminal shows in them. Remote text is scrubbed.
func table(rows ...[]string) string {
	var widths []int
	for _, row := range rows {
		for column, cell := range row {
			row[column] = string(api.Scrub(cell))
			if column == len(widths) {
				widths = append(widths, 0)
			}
			widths[column] = max(widths[column], ansi.StringWidth(row[column]))
		}
	}
	var out strings.Builder
	for _, row := range rows {
		line := ""
		for column, cell := range row {
			line += padded(cell, widths[column]+2)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.String()
}

// fact is a label and its value.
type fact struct{ label, value string }

// sheet prints facts one below another: labels on the left, values beside them, wrapped where they
// are too wide for a sheet. Facts without a value are left out. Remote text is scrubbed.
func sheet(facts ...fact) string {
	width := 0
	for _, f := range facts {
		if f.value != "" {
			width = max(width, ansi.StringWidth(f.label)+2)
		}
	}
	var out strings.Builder
	for _, f := range facts {
		if f.value == "" {
			continue
		}
		label := f.label
		for line := range strings.SplitSeq(atSpaces(string(api.Scrub(f.value)), max(sheetWidth-width, 20)), "\n") {
			out.WriteString(strings.TrimRight(padded(label, width)+line, " ") + "\n")
			label = ""
		}
	}
	return out.String()
}

// padded is text in at least this many cells.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// atSpaces breaks text at spaces into lines of at most width cells. A word that is wider is broken.
func atSpaces(text string, width int) string {
	const hyphen, whole = "-", "\u2011" // at which nothing is broken
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, hyphen, whole), width, ""), whole, hyphen)
}
