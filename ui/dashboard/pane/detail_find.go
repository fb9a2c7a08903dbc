package pane

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// sought is a text that is looked for in a detail. It is found in what is shown alone:
// what is masked or hidden cannot be guessed by it.
type sought struct {
	text    string         // "": nothing is
	pattern *regexp.Regexp // in any case of letters
	hits    []int          // lines of the body that hold it
}

// Find looks for a text and puts the cursor on the first line from a line on that
// holds it, unfolding the branches around it; "" looks for nothing any more.
func (p *Detail) Find(text string, from int) {
	p.sought = sought{text: text}
	p.cursor, p.follow, p.stale = from, true, true
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

// FindNext puts the cursor on the next line that holds the text, or on one before by
// a negative number, and reports whether it went round an end.
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
	p.follow, p.stale = true, true
	return wrapped
}

// Sought is the text that is looked for, "" for none, and how many lines hold it.
func (p *Detail) Sought() (text string, hits int) { return p.sought.text, len(p.sought.hits) }

// Line is the line of the cursor.
func (p *Detail) Line() int { return p.cursor }

// Found says which of the lines that hold the text the cursor is on, as in "3 of
// 12".
func (p *Detail) Found() string {
	of := len(p.sought.hits)
	at, on := slices.BinarySearch(p.sought.hits, p.cursor)
	switch {
	case of == 0 && slices.Contains(slices.Collect(maps.Values(p.folded)), true):
		return "nothing found in the unfolded parts"
	case of == 0:
		return "nothing found"
	case !on:
		return wording.Count(of) + " found"
	}
	return wording.Count(at+1) + " of " + wording.Count(of)
}

// seek finds the text where the pane stands, in branches that are folded as well.
func (p *Detail) seek() {
	for i := range p.tree.nodes {
		n := &p.tree.nodes[i]
		if !p.sought.pattern.MatchString(n.key + n.value) {
			continue
		}
		for path := n.parent; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
			delete(p.folded, "raw"+path)
		}
	}
	p.body = p.body[:0]
	p.compose()
	p.gather()
	p.total = len(p.body)
}

// gather notes which lines of the body hold the text.
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

// highlight marks the text in the line that was drawn last, unless that would change
// its width: a hit may be half of a cluster.
func (p *Detail) highlight(ground paint.Ground) {
	if p.sought.pattern == nil {
		return
	}
	line := p.lines[len(p.lines)-1]
	text := ansi.Strip(line)
	var marked strings.Builder
	end := 0 // of what is marked so far, in cells
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
