package doctor

import (
	"fmt"
	"io"
	"strings"

	"tillwatch/api"
	"tillwatch/ui/dashboard/paint"
)

// Sheet writes findings for people: the verdict, the check and what it found in
// columns, and below that what it means and what to do.
type Sheet struct {
	To    io.Writer
	Brush *paint.Brush // nil: nothing is coloured
	Width int          // of the lines; 0: they are not broken
	Names int          // the width of the column of checks
}

// Narrowest and widest lines that are broken.
const (
	narrowest = 40
	widest    = 120
)

const verdicts = 10 // the width of the column of verdicts, with its glyph

// Write writes one finding.
func (s Sheet) Write(f Finding) error {
	glyph, style := look(f.Verdict)
	text := paint.Text
	if f.Verdict == Skipped {
		text = paint.Muted
	}
	lines := s.column(text, "", f.Found)
	lines = append(lines, s.column(paint.Muted, "", f.Means)...)
	lines = append(lines, s.column(paint.Accent, "→ ", f.Do)...)
	for _, detail := range f.Details {
		lines = append(lines, s.column(paint.Muted, "  ", detail)...)
	}
	var b strings.Builder
	for i, line := range lines {
		verdict, name := "", ""
		if i == 0 {
			verdict, name = glyph+" "+string(f.Verdict), f.Check
		}
		b.WriteString(s.paint(style, fmt.Sprintf("%-*s", verdicts, verdict)))
		b.WriteString(s.paint(paint.Text, fmt.Sprintf("%-*s  ", s.Names, name)))
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(s.To, b.String())
	return err
}

// Close writes what was found in all, and beyond.
func (s Sheet) Close(t Tally, beyond string) error {
	style, parts := paint.Good, []string{}
	for _, count := range []struct {
		n         int
		one, many string
		style     paint.Style
	}{{t.Notes, "note", "notes", paint.Good}, {t.Skipped, "skipped", "skipped", paint.Good}, {t.Warnings, "warning", "warnings", paint.Warning}, {t.Faults, "fault", "faults", paint.Bad}} {
		if count.n == 0 {
			continue
		}
		style = count.style
		word := count.many
		if count.n == 1 {
			word = count.one
		}
		parts = append([]string{fmt.Sprintf("%d %s", count.n, word)}, parts...)
	}
	sum := strings.Join(parts, ", ")
	if t.Faults == 0 {
		sum = strings.TrimSuffix("no fault, "+sum, ", ")
	}
	_, err := fmt.Fprintf(s.To, "\n%s\n", strings.Join(s.broken(style, fmt.Sprintf("%d checks: %s; %s", t.Checks, sum, beyond), s.Width), "\n"))
	return err
}

// column is a text in the column of what was found; nil where there is none.
func (s Sheet) column(style paint.Style, lead, text string) []string {
	if text == "" {
		return nil
	}
	room := 0
	if s.Width > 0 {
		room = min(max(s.Width, narrowest), widest) - verdicts - s.Names - 2 - paint.Width(lead)
	}
	lines := s.broken(style, text, room)
	for i := range lines {
		if i == 0 {
			lines[i] = s.paint(style, lead) + lines[i]
		} else {
			lines[i] = strings.Repeat(" ", paint.Width(lead)) + lines[i]
		}
	}
	return lines
}

// broken breaks text into lines of at most width cells; 0: it does not.
func (s Sheet) broken(style paint.Style, text string, width int) []string {
	text = string(api.Scrub(text))
	lines := []string{text}
	if width > 0 {
		lines = paint.Wrap(text, width)
	}
	for i := range lines {
		lines[i] = s.paint(style, lines[i])
	}
	return lines
}

// paint is a text in a role of the theme.
func (s Sheet) paint(style paint.Style, text string) string {
	if s.Brush == nil || text == "" {
		return text
	}
	return paint.NewLine(s.Brush).Start(paint.Width(text)).Put(style, text).String()
}

func look(v Verdict) (glyph string, style paint.Style) {
	switch v {
	case OK:
		return "✓", paint.Good
	case Note:
		return "·", paint.Accent
	case Warning:
		return "!", paint.Warning
	case Fault:
		return "✕", paint.Bad
	}
	return "–", paint.Muted
}
