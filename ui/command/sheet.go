package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Widths of a sheet, in cells.
const (
	sheetLabel = 12
)

// sheetWriter writes rows within the width of a sheet.
type sheetWriter struct{ strings.Builder }

func (s *sheetWriter) line(lines ...string) {
	for _, line := range lines {
		s.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// section writes the facts that have a value below their title. A label that is wider than a
// time, as an id, stands below its value.
func (s *sheetWriter) section(of section) {
	facts := slices.DeleteFunc(of.facts, func(f fact) bool { return f.value == "" })
	if len(facts) > 0 && of.title != "" {
		s.line("", strings.ToUpper(of.title))
	}
	width := sheetLabel - 1
	for _, f := range facts {
		if w := ansi.StringWidth(f.label); w <= len(time.DateTime) {
			width = max(width, w)
		}
	}
	for _, f := range facts {
		if ansi.StringWidth(f.label) <= len(time.DateTime) {
			s.wrapped(fmt.Sprintf("%-*s ", width, f.label), f.value)
			continue
		}
		s.row("", f.value)
		s.row("", f.label)
	}
}

// row writes a label and its value, if there is one.
func (s *sheetWriter) row(label, value string) {
	if value != "" {
		s.wrapped(fmt.Sprintf("%-*s", sheetLabel, ansi.Truncate(label, sheetLabel-1, "…")), value)
	}
}

// wrapped writes head and text, and wraps the text below itself.
func (s *sheetWriter) wrapped(head, text string) {
	width := ansi.StringWidth(head)
	for i, part := range strings.Split(atSpaces(text, sheetWidth-width), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", width)
		}
		s.line(head + part)
	}
}

// apart writes text on the left and right on the right.
func (s *sheetWriter) apart(text, right string) {
	text = ansi.Truncate(text, sheetWidth-ansi.StringWidth(right)-2, "…")
	s.line(text + strings.Repeat(" ", max(2, sheetWidth-ansi.StringWidth(text)-ansi.StringWidth(right))) + right)
}
