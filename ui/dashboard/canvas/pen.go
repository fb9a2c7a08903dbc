package canvas

import (
	"bytes"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// longBlank is the number of blanks from which erasing takes fewer bytes.
const longBlank = 13

// pen writes cells, and tracks the terminal's style and cursor: most bytes of a clock
// tick would be styles already in effect.
type pen struct {
	erases bool // the terminal erases cells to the style's background
	style  uv.Style
	link   uv.Link
	x, y   int // of the cursor; x < 0: unknown
}

// write writes the cells of a line between two columns.
func (p *pen) write(w *bytes.Buffer, line uv.Line, from, to, y int) {
	p.move(w, from, y)
	for x := from; x < to; {
		cell := &line[x]
		p.take(w, cell)
		if p.x < 0 {
			p.move(w, x, y)
		}
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
		if p.x = x; len(cell.Content) > utf8.UTFMax && ansi.StringWidthWc(cell.Content) != cell.Width {
			p.x = -1 // a cluster that terminals measure differently, even those that measure by clusters
		}
	}
	if p.x >= len(line) { // beyond the last column, terminals differ
		p.x = -1
	}
}

// blanks returns the number of equal blanks at the beginning of the cells that erasing
// can replace, as they show only their background.
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

// take sets the style and hyperlink of a cell.
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

// reset sets the default style, outside any hyperlink. The cursor's position is then
// unknown.
func (p *pen) reset(w *bytes.Buffer) {
	p.take(w, &uv.EmptyCell)
	p.x = -1
}
