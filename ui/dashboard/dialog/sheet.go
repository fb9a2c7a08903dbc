package dialog

import (
	"strings"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// Sheet is a text to be read, in sections. It scrolls.
type Sheet struct {
	reading
	title    string
	sections []Section
}

// Section is a part of a [Sheet].
type Section struct {
	Title string
	Lines []Sentence
}

// Sentence is one line of a [Section]; a long one is wrapped, behind the blanks that it
// begins with.
type Sentence struct {
	Style paint.Style
	Text  string
}

const sheetWidth = 84

// NewSheet opens the sheet at its top.
func NewSheet(table *action.Table, title string, opens action.ID, sections []Section) *Sheet {
	return &Sheet{reading: reading{table: table, opens: opens}, title: title, sections: sections}
}

// Size is the block that the sheet wants, at most width by height.
func (s *Sheet) Size(width, height int) (int, int) {
	w := min(sheetWidth, width)
	return w, min(len(s.body(w-frame-2*insetFor(w)))+frame+2, height)
}

// View draws the sheet as exactly height lines of width cells.
func (s *Sheet) View(l *paint.Line, width, height int) []string {
	box := panelOf(width, s.title, escapes("esc close"))
	return s.view(l, box, s.body(box.room(width)), "   ↑ ↓ scroll", width, height)
}

func (s *Sheet) body(room int) (lines []paint.Spans) {
	for i, section := range s.sections {
		if i > 0 {
			lines = append(lines, paint.Spans{})
		}
		lines = append(lines, heading(section.Title, room))
		for _, sentence := range section.Lines {
			text := strings.TrimLeft(sentence.Text, " ")
			indent := len(sentence.Text) - len(text)
			lines = append(lines, behind(paint.Span{}, indent, paint.Wrapped(sentence.Style, text, room-indent))...)
		}
	}
	return lines
}
