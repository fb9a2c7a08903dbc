package canvas

import (
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

const (
	// leastChanged is the least number of changed lines for which scrolling is tried.
	leastChanged = 6
	// leastMoved is the least number of lines that are worth scrolling.
	leastMoved = 3
	// longEqual is the number of equal cells that split a line into two pieces: moving the
	// cursor over them takes fewer bytes than writing them.
	longEqual = 12
)

// update writes the cells that differ.
func (c *Canvas) update() {
	changed := c.changed[:0]
	for y, line := range c.lines {
		if line != c.shown[y] {
			changed = append(changed, y)
		}
	}
	c.changed = changed
	if c.xterm && len(changed) >= leastChanged {
		changed = c.scroll(changed)
	}
	c.write(changed)
}

// write writes the changed pieces of lines. It takes one piece of every line in turn:
// pieces in the same column often have the same style.
func (c *Canvas) write(changed []int) {
	for len(changed) > 0 {
		more := changed[:0]
		for _, y := range changed {
			from, to := c.takePiece(y)
			if from < to {
				c.pen.write(&c.changes, c.cells.Line(y), from, to, y)
			}
			if from < to && to < c.width {
				more = append(more, y)
			}
		}
		changed = more
	}
}

// scroll makes the terminal move the lines that only shifted, and returns those that
// still differ.
func (c *Canvas) scroll(changed []int) (rest []int) {
	to, lines, by := c.moved(changed)
	if lines < leastMoved || lines < max(by, -by) {
		return changed
	}
	top, bottom := min(to, to+by), max(to, to+by)+lines-1
	region, first := c.cells.Lines[top:bottom+1], by // the line that moves to the top
	c.pen.reset(&c.changes)                          // new lines take the style's background
	c.changes.WriteString(ansi.SetTopBottomMargins(top+1, bottom+1))
	if by > 0 {
		c.changes.WriteString(ansi.CursorPosition(1, bottom+1) + strings.Repeat("\n", by))
	} else {
		c.changes.WriteString(ansi.CursorPosition(1, top+1) + strings.Repeat(ansi.ReverseIndex, -by))
		first += len(region)
	}
	c.changes.WriteString(ansi.SetTopBottomMargins(1, c.height))

	copy(region, slices.Concat(region[first:], region[:first]))
	for y := top; y <= bottom; y++ {
		if y < to || y >= to+lines {
			c.cells.FillArea(&uv.EmptyCell, uv.Rect(0, y, c.width, 1))
			rest = append(rest, y)
		}
	}
	for _, y := range changed {
		if y < top || y > bottom {
			rest = append(rest, y)
		}
	}
	return rest
}

// moved finds the largest block of lines that has only shifted: it now begins at line to,
// and began by lines below that, or above it if by is negative.
func (c *Canvas) moved(changed []int) (to, lines, by int) {
	before := make(map[string]int, len(changed))
	for _, y := range changed {
		before[c.shown[y]] = y
	}
	for _, y := range changed {
		from, ok := before[c.lines[y]]
		if !ok {
			continue
		}
		n := 1
		for max(y, from)+n < c.height && c.lines[y+n] == c.shown[from+n] {
			n++
		}
		if n > lines {
			to, lines, by = y, n, from-y
		}
	}
	return to, lines, by
}

// take puts a line of the frame into row y of some cells.
func (c *Canvas) take(cells uv.ScreenBuffer, line, y int) {
	uv.NewStyledString(c.lines[line]).Draw(cells, uv.Rect(0, y, c.width, 1))
}

// takePiece applies the first piece of a line that differs from the screen; it is
// empty if nothing differs.
func (c *Canvas) takePiece(y int) (from, to int) {
	c.take(c.scratch, y, 0)
	old, now := c.cells.Line(y), c.scratch.Line(0)
	from, to = firstPiece(old, now)
	copy(old[from:to], now[from:to])
	return from, to
}

// firstPiece finds where two lines first differ, up to a long equal stretch. A line
// with wide cells is one piece.
func firstPiece(old, now uv.Line) (from, to int) {
	for from < len(now) && old[from].Equal(&now[from]) {
		from++
	}
	if from == len(now) {
		return 0, 0
	}
	same := 0
	for to = from; to < len(now); to++ {
		if !old[to].Equal(&now[to]) {
			same = 0
			continue
		}
		if same++; same == longEqual && narrow(old) && narrow(now) {
			return from, to + 1 - longEqual
		}
	}
	return from, to
}

// narrow reports whether every cell of a line is one column wide.
func narrow(l uv.Line) bool {
	for i := range l {
		if l[i].Width != 1 {
			return false
		}
	}
	return true
}
