package paint

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks s at spaces into lines of at most width cells, but not behind a separator. It
// breaks a word that is wider than a line: an address, if possible, behind a slash or the like.
func Wrap(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	var lines []string
	var line strings.Builder
	used := 0
	cut, kept := 0, 0 // the bytes and the cells up to where the word can be broken; 0: nowhere
	flush := func() {
		text, over := line.String(), ""
		if cut > 0 {
			text, over = text[:cut], text[cut:]
		}
		lines = append(lines, text)
		line.Reset()
		line.WriteString(over)
		if used -= kept; cut == 0 {
			used = 0
		}
		cut, kept = 0, 0
	}
	words := strings.Fields(s)
	for i, word := range words {
		w := Width(word)
		if word == "·" && i+1 < len(words) {
			w += 1 + Width(words[i+1]) // a separator stands before what it separates
		}
		if used > 0 && used+1+w > width {
			flush()
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		for word != "" {
			g, rest := next(word)
			if used+g.cells > width && used > 0 {
				flush()
			}
			if g.cells > 0 && g.cells <= width {
				line.WriteString(word[:len(word)-len(rest)])
				used += g.cells
			}
			if word = rest; word != "" && strings.Contains("/?&-=", g.letters) && 2*used > width {
				cut, kept = line.Len(), used
			}
		}
		cut, kept = 0, 0
	}
	if used > 0 {
		flush()
	}
	return lines
}

// Splice lays block over lines with its top left corner at x, y. It leaves out lines of
// the block that fall outside. The rest of each line keeps its styles.
func Splice(lines []string, block []string, x, y, width int) {
	for i, over := range block {
		row := y + i
		if row < 0 || row >= len(lines) {
			continue
		}
		w := ansi.StringWidth(over)
		under := lines[row]
		left := ansi.Truncate(under, x, "")
		left += strings.Repeat(" ", max(x-ansi.StringWidth(left), 0))
		right := ansi.TruncateLeft(under, x+w, "")
		if ansi.StringWidth(right) > width-x-w { // a wide cell was cut in two
			right = ansi.TruncateLeft(under, x+w+1, "")
		}
		gap := width - x - w - ansi.StringWidth(right)
		lines[row] = left + "\x1b[m" + over + "\x1b[m" + strings.Repeat(" ", max(gap, 0)) + right
	}
}

// Drawable returns s as a line draws it on every terminal, without what it leaves out.
func Drawable(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		g, rest := next(s)
		b.WriteString(g.letters)
		s = rest
	}
	return b.String()
}
