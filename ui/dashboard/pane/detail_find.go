package pane

import (
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// sought is a search in a detail. It searches only what is shown: nobody can guess masked
// or hidden values with it.
type sought struct {
	text    string         // "": no search
	pattern *regexp.Regexp // matches text, ignoring case
	hits    []int          // lines of the body that match
}

// Find searches for a text and puts the cursor on the first match from a line on. "" ends
// the search.
func (p *Detail) Find(text string, from int) {
	p.sought = sought{text: text}
	p.cursor, p.stale = from, true
	if text == "" {
		return
	}
	p.sought.pattern = regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
	p.seek()
	if hits := p.sought.hits; len(hits) > 0 {
		at, _ := slices.BinarySearch(hits, from)
		p.cursor = hits[at%len(hits)]
	}
}

// FindNext puts the cursor on the next match, or the previous one if by is negative, and
// reports whether the search wrapped around.
func (p *Detail) FindNext(by int) (wrapped bool) {
	p.seek()
	hits := p.sought.hits
	if len(hits) == 0 {
		return false
	}
	at, on := slices.BinarySearch(hits, p.cursor)
	switch {
	case by < 0:
		at--
	case on:
		at++
	}
	wrapped = at < 0 || at == len(hits)
	p.cursor = hits[(at+len(hits))%len(hits)]
	p.stale = true
	return wrapped
}

// Sought returns the searched text, "" for none, and the number of matching lines.
func (p *Detail) Sought() (text string, hits int) { return p.sought.text, len(p.sought.hits) }

// Line returns the line of the cursor.
func (p *Detail) Line() int { return p.cursor }

// Found says which match the cursor is on, such as "3 of 12".
func (p *Detail) Found() string {
	of := len(p.sought.hits)
	at, on := slices.BinarySearch(p.sought.hits, p.cursor)
	switch {
	case of == 0:
		return "nothing found"
	case !on:
		return wording.Count(of) + " found"
	}
	return wording.Count(at+1) + " of " + wording.Count(of)
}

// seek searches again.
func (p *Detail) seek() {
	p.body = p.body[:0]
	p.compose()
	p.gather()
	p.total = len(p.body)
}

// gather collects the matching lines of the body.
func (p *Detail) gather() {
	p.sought.hits = p.sought.hits[:0]
	if p.sought.pattern == nil {
		return
	}
	l := paint.NewLine(p.look.Brush)
	for i := range p.body {
		line := &p.body[i]
		text := line.text
		if text == "" {
			line.draw(l.Start(p.w - 2))
			text = ansi.Strip(l.String())
		}
		if p.sought.pattern.MatchString(text) {
			p.sought.hits = append(p.sought.hits, i)
		}
	}
}

// highlight marks the matches in the last drawn line, unless that would change its width: a
// match may be half of a cluster.
func (p *Detail) highlight(ground paint.Ground) {
	if p.sought.pattern == nil {
		return
	}
	line := p.lines[len(p.lines)-1]
	text := ansi.Strip(line)
	var marked strings.Builder
	end := 0 // of the marked part, in cells
	for _, at := range p.sought.pattern.FindAllStringIndex(text, -1) {
		from, hit := paint.Width(text[:at[0]]), text[at[0]:at[1]]
		marked.WriteString(ansi.Cut(line, end, from) + "\x1b[m")
		end = from + paint.Width(hit)
		marked.WriteString(p.line.Start(end-from).On(ground).Put(paint.Text|paint.Bold|paint.Underline, hit).String() + "\x1b[m")
	}
	marked.WriteString(ansi.TruncateLeft(line, end, ""))
	if ansi.StringWidth(marked.String()) == ansi.StringWidth(line) {
		p.lines[len(p.lines)-1] = marked.String()
	}
}
