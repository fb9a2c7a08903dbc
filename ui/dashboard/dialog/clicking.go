package dialog

import (
	"strconv"
	"time"

	"tillwatch/ui/dashboard/paint"
)

// Click targets. In the palette and on the board, a number is a row.
const (
	clicksClose  = "close"  // cancels, or closes the dialog after the yes
	clicksButton = "button" // the only button of a dialog without a question
	clicksYes    = "yes"
	clicksField  = "field"
	clicksDo     = "do"
)

// clicked is a click's name among the keys.
const clicked = "click"

// spots are the click targets of the last drawing.
type spots []spot

type spot struct {
	x, y, width int
	target      string
}

// at is the target at a cell; "" for none.
func (s spots) at(x, y int) string {
	for _, spot := range s {
		if y == spot.y && x >= spot.x && x < spot.x+spot.width {
			return spot.target
		}
	}
	return ""
}

// add finds the targets of a line drawn from x in room cells.
func (s spots) add(l paint.Spans, x, y, room int) spots {
	for _, part := range l {
		width := min(part.Width(), room)
		if width <= 0 {
			break
		}
		if part.Target != "" {
			s = append(s, spot{x, y, width, part.Target})
		}
		x, room = x+width, room-width
	}
	return s
}

// spots are the click targets in the rows that draw makes.
func (p panel) spots(width, height int, body []row) spots {
	if width < 2*frame || height <= frame {
		return nil
	}
	var out spots
	for i := range min(height-frame, len(body)) {
		out = out.add(body[i].Spans, 1+p.inset, 1+i, p.room(width))
	}
	const corner = 3 // with the rule and the blank before the text
	return out.add(p.foot, corner, height-1, width-2*corner)
}

// Click handles a click at a cell. It counts like a key: one that comes too soon after the dialog
// opened, or after another click or key, confirms nothing. In a live environment the first click
// only moves to the button, like the tab key, and only once the dialog is armed.
func (d *Confirm) Click(x, y int, at time.Time) Answer {
	target := d.spots.at(x, y)
	since, calm := d.quiet.press(clicked, at)
	d.now = at
	switch {
	case d.phase != asking:
		return d.clickAfter(target, since)
	case target == clicksClose, target == clicksButton:
		return Answer{Kind: Closed}
	case !d.quiet.Proven():
		return d.hurried(clicked)
	}
	d.notice = ""
	switch {
	case d.expired(at):
		d.focus = onCancel
	case target == clicksField:
		d.setFocus(onField)
	case target != clicksYes:
	case d.guarded() && !d.armed():
		d.setFocus(onField)
		d.notice = "Not typed as shown yet."
	case d.guarded() && d.focus != onConfirm:
		d.setFocus(onConfirm)
		d.notice = "Armed: click again, or press enter."
	default:
		return d.yes(calm)
	}
	return Answer{}
}

// clickAfter handles clicks after the yes. A double click on the yes does not close
// what it opened.
func (d *Confirm) clickAfter(target string, since time.Duration) Answer {
	if target == clicksClose || target == clicksButton && since >= quietFor {
		return Answer{Kind: Closed}
	}
	return Answer{}
}

// Click chooses the action of a row.
func (p *Palette) Click(x, y int, _ time.Time) Answer {
	switch target := p.spots.at(x, y); target {
	case clicksClose:
		return Answer{Kind: Closed}
	case clicksDo:
		return p.choose()
	default:
		if at, err := strconv.Atoi(target); err == nil && at < len(p.hits) {
			p.at, p.refused = at, ""
			return p.choose()
		}
	}
	return Answer{}
}
