package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/dashboard/sign"
)

// Widths of a sheet, in cells.
const (
	sheetWidth = 80
	sheetLabel = 12
)

// sheet is the intent for people.
func (l *intentLine) sheet() string {
	s, in := &sheetWriter{}, l.shown()
	s.apart(cmp.Or(string(in.Product), string(in.ID)), sign.Intent(in.State).String())
	about := intentSections{l, time.Local, func(t time.Time) string { return stamp(t, l.MadeAt) }, func(text string) string { return text }}
	for _, part := range about.all() {
		s.section(part)
	}
	if !l.Personal && l.latest().Buyer != nil {
		s.section(section{"Buyer", []fact{{"", "masked: --reveal shows it"}}})
	}
	return s.String()
}

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

// stamp is a local time, with its date unless that is today; "" if it is not known.
func stamp(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	local, today := t.Local(), now.Local()
	if local.Format(time.DateOnly) == today.Format(time.DateOnly) {
		return local.Format(time.TimeOnly)
	}
	return local.Format(time.DateTime)
}

func joinedTexts(texts []api.Text) string {
	return strings.Join(asStrings(texts), ", ")
}
