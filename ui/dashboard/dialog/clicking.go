package dialog

import (
	"strconv"
	"time"

	"tillwatch/ui/dashboard/paint"
)

// What takes clicks. In the palette and on the board a number stands for a row.
const (
	clicksClose  = "close"  // leaves: cancels, or closes what the yes was given to
	clicksButton = "button" // the one button of a dialog that has nothing to ask any more
	clicksYes    = "yes"
	clicksField  = "field"
	clicksDo     = "do"
)

// clicked is the name of a click among the keys.
const clicked = "click"

// spots are the places of the last drawing that take clicks.
type spots []spot

type spot struct {
	x, y, width int
	target      string
}

// at is the target at a cell of the drawing, "" for none.
func (s spots) at(x, y int) string {
	for _, spot := range s {
		if y == spot.y && x >= spot.x && x < spot.x+spot.width {
			return spot.target
		}
	}
	return ""
}

// add finds the targets of a line that is drawn from x on in so many cells.
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

// spots are the places that take clicks in what draw makes of the same.
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

// Click takes a click at a cell of the drawing. It is worth what a key is: one
// that was hurried, or that comes too soon after another or after a key, confirms
// nothing. Where money is real the first one moves to the button alone, as the tab
// key does, and that only once it is armed by what was typed.
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
	case d.Expired(at):
		d.focus = onCancel
	case target == clicksField:
		d.setFocus(onField)
	case target != clicksYes:
	case d.live && !d.armed():
		d.setFocus(onField)
		d.notice = "Not typed as shown yet."
	case d.live && d.focus != onConfirm:
		d.setFocus(onConfirm)
		d.notice = "Armed: click again, or press enter."
	default:
		return d.yes(calm)
	}
	return Answer{}
}

// clickAfter takes the clicks after the yes. A double click on the yes does not
// close what it opened.
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
