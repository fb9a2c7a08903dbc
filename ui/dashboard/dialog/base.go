package dialog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// notPasted is the notice for a paste where nothing can be typed.
const notPasted = "pasted text is not accepted here"

// base is common to all dialogs.
type base struct {
	said  string // replaces the hints until the next key
	spots spots
}

// Paste says, until the next key, that pasted text is not accepted.
func (b *base) Paste(string) { b.said = notPasted }

// panelOf is a panel with a title and footer.
func panelOf(width int, title string, foot ...paint.Span) panel {
	return panel{frame: paint.Faint, inset: insetFor(width), title: titled(title), foot: foot}
}

func titled(text string) paint.Spans { return paint.Spans{paint.In(paint.Text|paint.Bold, text)} }

// escapes is a hint that closes the dialog when clicked.
func escapes(text string) paint.Span { return paint.In(paint.Muted, text).Clicks(clicksClose) }

// draw draws a panel as exactly height lines of width cells.
func (b *base) draw(l *paint.Line, p panel, width, height int, body []row) []string {
	p.pen = l
	if b.said != "" {
		p.foot = paint.Spans{paint.In(paint.Warning, b.said)}
	}
	b.spots = p.spots(width, height, body)
	return p.draw(width, height, body)
}

// heading is a title followed by a rule.
func heading(title string, width int) paint.Spans {
	l := paint.Spans{paint.In(paint.Text|paint.Bold, title), paint.In(paint.Text, " ")}
	return append(l, paint.In(paint.Faint, strings.Repeat("─", max(width-l.Width(), 0))))
}

// behind sets lines behind a label, which stands before the first one, in width cells.
func behind(label paint.Span, width int, lines []paint.Spans) []paint.Spans {
	for i, l := range lines {
		lines[i] = append(paint.Spans{label, paint.Blank(width - label.Width())}, l...)
		label = paint.Span{}
	}
	return lines
}

// airyFrom is the height from which a panel has an empty line above and below its
// text.
const airyFrom = 12

// window is the visible part of a text.
type window struct {
	top   int // its first line
	page  int // visible lines in the last drawing
	lines int // of the text
}

// Scroll scrolls by lines, as a mouse wheel does.
func (w *window) Scroll(lines int) { w.top = max(min(w.top+lines, w.lines-w.page), 0) }

// key scrolls with the board's movement keys, and returns what other keys mean here.
func (w *window) key(table *action.Table, key tea.KeyPressMsg) action.ID {
	a, _ := table.Lookup(action.Board, key)
	by := map[action.ID]int{action.Up: -1, action.Down: 1, action.PageUp: -w.page, action.PageDown: w.page, action.Top: -w.lines, action.Bottom: w.lines}[a.ID]
	if by == 0 {
		by = map[string]int{"space": w.page, "home": -w.lines, "end": w.lines}[key.String()]
	}
	w.Scroll(by)
	return a.ID
}

// of is the visible part of a text in a panel of a height. Its line at, from 0, is
// always visible.
func (w *window) of(text []paint.Spans, height, at int) (shown []row) {
	w.lines, w.page = len(text), max(height-frame, 1)
	if height >= airyFrom {
		w.page -= 2
		shown = rows(needed, paint.Spans{})
	}
	if at >= 0 {
		w.top = max(min(w.top, at), at-w.page+1)
	}
	w.Scroll(0)
	return append(shown, rows(needed, text[w.top:min(w.top+w.page, w.lines)]...)...)
}

// badge says which lines are visible; "" if all are.
func (w *window) badge() paint.Spans {
	if w.lines <= w.page {
		return nil
	}
	return paint.Spans{paint.In(paint.Muted, fmt.Sprintf("%d–%d of %d", w.top+1, min(w.top+w.page, w.lines), w.lines))}
}

// reading is a scrollable text.
type reading struct {
	base
	window
	table *action.Table
	opens action.ID // whose key closes it, too
}

// Key scrolls or closes.
func (r *reading) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	r.said = ""
	switch key.String() {
	case "esc", "q", "enter":
		return Answer{Kind: Closed}
	}
	id := r.key(r.table, key)
	return closedIf(id == r.opens || id == action.Quit)
}

// Click closes it by its hint.
func (r *reading) Click(x, y int, _ time.Time) Answer {
	return closedIf(r.spots.at(x, y) == clicksClose)
}

// view draws the visible part; scrolls names the keys that scroll.
func (r *reading) view(l *paint.Line, p panel, text []paint.Spans, scrolls string, width, height int) []string {
	shown := r.of(text, height, -1)
	if p.badge = r.badge(); len(p.badge) > 0 {
		p.foot = append(p.foot, paint.In(paint.Muted, scrolls))
	}
	return r.draw(l, p, width, height, shown)
}

// choice is the cursor of a list.
type choice struct{ at, of int }

// key moves the cursor, and wraps around at both ends.
func (c *choice) key(name string) {
	switch name {
	case "up", "k", "shift+tab":
		c.at--
	case "down", "j", "tab":
		c.at++
	case "home", "g":
		c.at = 0
	case "end", "G":
		c.at = c.of - 1
	}
	c.at = (c.at + c.of) % max(c.of, 1)
}

// Scroll moves the cursor, as a mouse wheel does.
func (c *choice) Scroll(lines int) { c.at = max(min(c.at+lines, c.of-1), 0) }

// click puts the cursor on the clicked row, and reports whether there is one.
func (c *choice) click(target string) bool {
	at, err := strconv.Atoi(target)
	if err != nil || at >= c.of {
		return false
	}
	c.at = at
	return true
}
