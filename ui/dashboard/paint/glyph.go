package paint

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/text/unicode/norm"
)

// glyph is how a cluster of characters is drawn, in the same number of cells everywhere.
type glyph struct {
	cells   int
	letters string // what takes at most these cells on every terminal
	whole   string // the cluster, for a terminal that measures by clusters; "": letters say it all
}

// draw appends the glyph, and blanks up to its cells.
func (g *glyph) draw(buf []byte, clusters bool) []byte {
	text := g.letters
	if g.whole == "" {
		return append(buf, text...)
	}
	if clusters {
		text = g.whole
	}
	buf = append(buf, text...)
	return append(buf, spaces[:g.cells-ansi.StringWidth(text)]...)
}

// next returns the first glyph of s. Control and invisible characters take no cells; what has no
// letters either is drawn as a question mark.
func next(s string) (g glyph, rest string) {
	if s[0] >= 0x20 && s[0] <= 0x7e && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return glyph{cells: 1, letters: s[:1]}, s[1:]
	}
	cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if cluster == "" {
		return glyph{}, ""
	}
	rest = s[len(cluster):]
	r, size := utf8.DecodeRuneInString(cluster)
	hidden := strings.ContainsFunc(cluster, invisible)
	switch {
	case r == utf8.RuneError && size <= 1:
		return glyph{cells: 1, letters: "?"}, rest
	case len(cluster) == size && (hidden || width == 0):
		return glyph{}, rest
	case len(cluster) == size && alone(r), !hidden && width > 0 && !disputed(cluster, r, width):
		return glyph{cells: width, letters: cluster}, rest
	}
	letters := lettersOf(cluster)
	if letters == "" && hidden && width == 0 {
		return glyph{}, rest
	} else if letters == "" {
		return glyph{cells: 1, letters: "?"}, rest
	}
	g = glyph{cells: ansi.StringWidth(letters), letters: letters}
	composed := norm.NFC.String(cluster)
	if !hidden && len(cluster) > size && letters != composed && !strings.ContainsAny(cluster, "\u0e33\u0eb3") {
		g.cells, g.whole = max(g.cells, width), cluster
	}
	return g, rest
}

// disputed reports whether terminals differ in how many cells a cluster takes.
func disputed(cluster string, first rune, width int) bool {
	return width != ansi.StringWidthWc(cluster) || strings.ContainsFunc(cluster, takesSpace) ||
		joins(cluster, first, width)
}

// lettersOf returns the characters of a cluster that take the same cells on every terminal, with
// their marks if those do not change that, and Jamo as syllables; "" if there are none.
func lettersOf(cluster string) string {
	cluster = norm.NFC.String(cluster)
	for _, marks := range []bool{true, false} {
		var b strings.Builder
		for _, r := range cluster {
			b.WriteString(letterOf(r, marks, b.Len() == 0))
		}
		letters := b.String()
		first, _ := utf8.DecodeRuneInString(letters)
		if letters != "" && !disputed(letters, first, ansi.StringWidth(letters)) {
			return letters
		}
	}
	return ""
}

// letterOf returns what is left of a character of a cluster: of a regional indicator its letter, of
// the vowels AM of Thai and Lao both parts, of a sign after the first nothing.
func letterOf(r rune, marks, first bool) string {
	switch {
	case r >= 0x1f1e6 && r <= 0x1f1ff:
		return string('A' + r - 0x1f1e6)
	case r == 0x0e33:
		return "\u0e4d\u0e32"
	case r == 0x0eb3:
		return "\u0ecd\u0eb2"
	case unicode.Is(unicode.Mn, r) && marks && !first:
		return string(r)
	case unicode.IsMark(r), invisible(r), r >= 0x1f3fb && r <= 0x1f3ff, !first && !unicode.IsLetter(r):
		return ""
	}
	return string(r)
}

// alone reports whether a character is known to take one cell and to join no other. It
// spares the common characters of a board the cost of joins, and a board that has no
// others the table of all widths, which takes 2 MB.
func alone(r rune) bool {
	switch {
	case r >= 0x00a1 && r <= 0x017f:
		return r != 0x00ad && r != 0x00a9 && r != 0x00ae // not the soft hyphen, nor signs that may be drawn as emoji
	case r >= 0x2013 && r <= 0x2026:
		return true
	case r >= 0x2500 && r <= 0x25a9:
		return true
	}
	switch r {
	case '→', '←', '↓', '↑', '↯', '−', '≤', '≥', '≈', '○', '●', '◌', '◆', '◔', '▸', '▾', '✓', '✕', '⚑', '∙':
		return true
	}
	return false
}

// joins reports whether a cluster would join a character before or after it, and then
// take another width than alone.
func joins(cluster string, first rune, width int) bool {
	return ansi.StringWidth("a"+cluster+"a") != width+2 ||
		first >= 0x1160 && first <= 0x11ff || first >= 0xd7b0 && first <= 0xd7ff || // Hangul vowels and finals
		first >= 0x1f1e6 && first <= 0x1f1ff // regional indicators
}

// takesSpace reports whether a rune is a mark that takes a cell on some terminals, and
// none on others.
func takesSpace(r rune) bool { return unicode.Is(unicode.Mc, r) }

func invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
