package dialog

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// Sheet is a text to be read, in sections. It scrolls.
type Sheet struct {
	pen      *paint.Line
	table    *action.Table
	title    string
	opens    action.ID // whose key closes it, too
	sections []Section
	top      int // first line in view
	page     int // lines in view in the last drawing
	lines    int // of the last drawing
	said     string
	spots    spots
}

// Section is a part of a [Sheet].
type Section struct {
	Title string
	Lines []Sentence
}

// Sentence is one line of a [Section]; a long one is wrapped.
type Sentence struct {
	Style paint.Style
	Text  string
}

const sheetWidth = 84

// NewSheet opens the sheet at its top.
func NewSheet(t themes.Theme, table *action.Table, title string, opens action.ID, sections []Section) *Sheet {
	s := &Sheet{table: table, title: title, opens: opens, sections: sections}
	s.SetTheme(t)
	return s
}

// SetTheme changes the colours.
func (s *Sheet) SetTheme(t themes.Theme) { s.pen = paint.NewLine(paint.NewBrush(t, false)) }

// Paste says, until the next key, that pasted text is not taken.
func (s *Sheet) Paste(string) { s.said = notPasted }

// Key scrolls or closes.
func (s *Sheet) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	s.said = ""
	switch key.String() {
	case "esc", "q", "enter":
		return Answer{Kind: Closed}
	case "space":
		s.top += s.page
	}
	a, _ := s.table.Lookup(action.Board, key)
	switch a.ID {
	case s.opens:
		return Answer{Kind: Closed}
	case action.Up:
		s.top--
	case action.Down:
		s.top++
	case action.PageUp:
		s.top -= s.page
	case action.PageDown:
		s.top += s.page
	case action.Top:
		s.top = 0
	case action.Bottom:
		s.top = s.lines
	}
	s.clamp()
	return Answer{}
}

// Click closes the sheet by its hint.
func (s *Sheet) Click(x, y int, _ time.Time) Answer { return closedIf(s.spots.at(x, y) == clicksClose) }

// Scroll moves the view by so many lines, as a mouse wheel does.
func (s *Sheet) Scroll(lines int) {
	s.top += lines
	s.clamp()
}

func (s *Sheet) clamp() { s.top = max(min(s.top, s.lines-s.page), 0) }

// Size is the block that the sheet wants, at most width by height.
func (s *Sheet) Size(width, height int) (int, int) {
	w := min(sheetWidth, width)
	return w, min(len(s.body(w-frame-2*insetFor(w)))+frame+2, height)
}

// View draws the sheet as exactly height lines of width cells.
func (s *Sheet) View(width, height int) []string {
	box := panel{pen: s.pen, frame: paint.Faint, inset: insetFor(width), title: paint.Spans{paint.In(paint.Text|paint.Bold, s.title)},
		foot: paint.Spans{paint.In(paint.Muted, "esc close").Clicks(clicksClose)}}
	body := s.body(box.room(width))
	s.lines, s.page = len(body), max(height-frame-2, 1)
	s.clamp()
	last := min(s.top+s.page, s.lines)
	if s.lines > s.page {
		box.foot = append(box.foot, paint.In(paint.Muted, "   ↑ ↓ scroll"))
		box.badge = paint.Spans{paint.In(paint.Muted, fmt.Sprintf("%d–%d of %d", s.top+1, last, s.lines))}
	}
	if s.said != "" {
		box.foot = paint.Spans{paint.In(paint.Warning, s.said)}
	}
	all := append(rows(air, paint.Spans{}), rows(needed, body[s.top:last]...)...)
	all, _ = squeeze(all, max(height-frame, 0))
	s.spots = box.spots(width, height, all)
	return box.draw(width, height, all)
}

func (s *Sheet) body(room int) (lines []paint.Spans) {
	for i, section := range s.sections {
		if i > 0 {
			lines = append(lines, paint.Spans{})
		}
		heading := paint.Spans{paint.In(paint.Text|paint.Bold, section.Title), paint.In(paint.Text, " ")}
		lines = append(lines, append(heading, paint.In(paint.Faint, strings.Repeat("─", max(room-heading.Width(), 0)))))
		for _, sentence := range section.Lines {
			lines = append(lines, paint.Wrapped(sentence.Style, sentence.Text, room)...)
		}
	}
	return lines
}
