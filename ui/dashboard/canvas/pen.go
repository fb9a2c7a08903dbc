package canvas

import (
	"bytes"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// longBlank is from how many blanks on erasing them takes fewer bytes.
const longBlank = 13

// pen writes cells, and remembers what the terminal holds of that: most of what a tick
// of the clock sends would be styles that were there before.
type pen struct {
	erases bool // the terminal erases cells, and leaves the ground of the style behind
	style  uv.Style
	link   uv.Link
	x, y   int // of the cursor; x is below 0 where that is not known
}

// write writes the cells of a line from a column on, up to another.
func (p *pen) write(w *bytes.Buffer, line uv.Line, from, to, y int) {
	p.move(w, from, y)
	for x := from; x < to; {
		cell := &line[x]
		p.take(w, cell)
		if blanks := p.blanks(line[x:to]); blanks >= longBlank {
			w.WriteString(ansi.EraseCharacter(blanks))
			if x += blanks; x < to {
				w.WriteString(ansi.CursorForward(blanks))
				p.x = x
			}
			continue
		}
		w.WriteString(cell.Content)
		x += max(cell.Width, 1)
		p.x = x
	}
	if p.x >= len(line) { // behind the last column terminals differ
		p.x = -1
	}
}

// blanks is how many blanks alike cells begin with that can be erased: they show no
// more than their ground.
func (p *pen) blanks(cells []uv.Cell) (n int) {
	first := &cells[0]
	if !p.erases || first.Content != " " || !first.Link.IsZero() || first.Style.Underline != uv.UnderlineNone || first.Style.Attrs&^(uv.AttrBold|uv.AttrFaint) != 0 {
		return 0
	}
	for n < len(cells) && cells[n].Equal(first) {
		n++
	}
	return n
}

// move moves the cursor.
func (p *pen) move(w *bytes.Buffer, x, y int) {
	switch ahead := x - p.x; {
	case p.x < 0 || y != p.y || ahead < 0 || !p.erases && ahead > 0:
		w.WriteString(ansi.CursorPosition(x+1, y+1))
	case ahead > 0:
		w.WriteString(ansi.CursorForward(ahead))
	}
	p.x, p.y = x, y
}

// take has the terminal take the style and the hyperlink of a cell.
func (p *pen) take(w *bytes.Buffer, cell *uv.Cell) {
	if cell.Link != p.link {
		p.leaveLink(w)
		if !cell.Link.IsZero() {
			w.WriteString(ansi.SetHyperlink(cell.Link.URL, cell.Link.Params))
			p.link = cell.Link
		}
	}
	w.WriteString(cell.Style.Diff(&p.style))
	p.style = cell.Style
}

func (p *pen) leaveLink(w *bytes.Buffer) {
	if !p.link.IsZero() {
		w.WriteString(ansi.ResetHyperlink())
		p.link = uv.Link{}
	}
}

// reset has the terminal take its own style, outside of any hyperlink. Where its
// cursor stands is not known any more.
func (p *pen) reset(w *bytes.Buffer) {
	p.take(w, &uv.EmptyCell)
	p.x = -1
}
