package doctor

import (
	"fmt"
	"io"
	"strings"

	"tillwatch/api"
	"tillwatch/ui/dashboard/paint"
)

// Sheet writes findings for people: verdict, check and finding in columns, and below
// that what it means and what to do.
type Sheet struct {
	To    io.Writer
	Brush *paint.Brush // nil: no colour
	Width int          // of a line; 0: lines are not wrapped
	Names int          // width of the column of checks
}

const (
	verdictCells = 10 // with glyph and gap
	narrowest    = 40 // lines are never wrapped narrower than this
	widest       = 120
)

// Write writes one finding.
func (s Sheet) Write(f Finding) error {
	glyph, style := look(f.Verdict)
	left := s.paint(style, fmt.Sprintf("%-*s", verdictCells, glyph+" "+string(f.Verdict))) + fmt.Sprintf("%-*s  ", s.Names, f.Check)
	var b strings.Builder
	add := func(style paint.Style, lead, text string) {
		indent := strings.Repeat(" ", paint.Width(lead))
		for _, line := range s.wrapped(text, verdictCells+s.Names+2+len(indent)) {
			b.WriteString(left + s.paint(style, lead+line) + "\n")
			left, lead = strings.Repeat(" ", verdictCells+s.Names+2), indent
		}
	}
	add(paint.Text, "", f.Found)
	add(paint.Muted, "", f.Means)
	add(paint.Accent, "→ ", f.Do)
	for _, detail := range f.Details {
		add(paint.Muted, "  ", detail)
	}
	_, err := io.WriteString(s.To, b.String())
	return err
}

// Close writes the number of findings of each verdict, followed by the text beyond.
func (s Sheet) Close(counts map[Verdict]int, beyond string) error {
	var parts []string
	_, style := look(OK)
	for _, v := range Verdicts() {
		text := fmt.Sprintf("%d %s", counts[v], v)
		if counts[v] > 1 && v != OK && v != Skipped {
			text += "s"
		}
		if counts[v] > 0 {
			parts = append(parts, text)
		}
		if counts[v] > 0 && (v == Warning || v == Fault) {
			_, style = look(v)
		}
	}
	_, err := fmt.Fprintf(s.To, "\n%s\n", s.paint(style, strings.Join(parts, ", ")+"; "+beyond))
	return err
}

// wrapped breaks text into lines that leave room for before cells.
func (s Sheet) wrapped(text string, before int) []string {
	text = string(api.Scrub(text))
	switch {
	case text == "":
		return nil
	case s.Width == 0:
		return []string{text}
	}
	return paint.Wrap(text, min(max(s.Width, narrowest), widest)-before)
}

// paint renders text in a style.
func (s Sheet) paint(style paint.Style, text string) string {
	if s.Brush == nil {
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
