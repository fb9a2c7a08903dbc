package canvas

import (
	"bytes"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// pen writes what a renderer has written with a change of style only where
// something is drawn in it. The renderer returns to the terminal's own style
// before each move to another line and after each frame; most of what a tick of
// the clock sends would be styles that were there before. It ends a hyperlink at
// the same places, but believes itself within it afterwards: of what it drew next,
// the link would be lost.
type pen struct {
	held       uv.Style // that the terminal has got
	wanted     uv.Style // that the renderer has written
	heldLink   string   // the sequence that began the hyperlink; "" outside of any
	wantedLink string
}

// write puts drawn to w.
func (p *pen) write(w *bytes.Buffer, drawn []byte) {
	parser := ansi.GetParser()
	defer ansi.PutParser(parser)
	for len(drawn) > 0 {
		n, what := token(drawn)
		switch {
		case what == style:
			ansi.DecodeSequence(drawn[:n], 0, parser)
			uv.ReadStyle(parser.Params(), &p.wanted)
		case what == links:
			p.link(drawn[:n], drawn[n:])
		case what == draws:
			p.apply(w)
			w.Write(drawn[:n])
		case what == feeds:
			w.WriteString("\r\n") // as the renderer takes it, whatever the terminal does
		default:
			w.Write(drawn[:n])
		}
		drawn = drawn[n:]
	}
}

// link takes the beginning of a hyperlink, or an end. The renderer means an end
// only where a cell follows that is not linked.
func (p *pen) link(sequence, rest []byte) {
	if !bytes.HasPrefix(sequence, []byte("\x1b]8;;\a")) {
		p.wantedLink = string(sequence)
		return
	}
	if len(rest) > 0 {
		if _, what := token(rest); what == draws {
			p.wantedLink = ""
		}
	}
}

// apply has the terminal take the style and the hyperlink that are wanted.
func (p *pen) apply(w *bytes.Buffer) {
	if p.wantedLink != p.heldLink {
		p.leaveLink(w)
		w.WriteString(p.wantedLink)
		p.heldLink = p.wantedLink
	}
	switch {
	case p.wanted.Equal(&p.held):
	case p.wanted.IsZero():
		w.WriteString(ansi.ResetStyle)
	default:
		w.WriteString(p.wanted.Diff(&p.held))
	}
	p.held = p.wanted
}

func (p *pen) leaveLink(w *bytes.Buffer) {
	if p.heldLink != "" {
		w.WriteString(ansi.ResetHyperlink())
		p.heldLink = ""
	}
}

// reset has the terminal take its own style, outside of any hyperlink.
func (p *pen) reset(w *bytes.Buffer) {
	p.leaveLink(w)
	if !p.held.IsZero() {
		w.WriteString(ansi.ResetStyle)
	}
	p.held, p.wanted = uv.Style{}, uv.Style{}
}

// What a piece of a renderer's output does.
type effect uint8

const (
	moves effect = iota // the cursor, or a mode
	feeds               // moves to the next line
	style               // changes the style
	links               // begins or ends a hyperlink
	draws               // cells: text, or what erases, inserts and deletes them
)

// token is the length of the first piece of b, which is not empty, and what it
// does.
func token(b []byte) (n int, what effect) {
	switch b[0] {
	case '\n':
		return 1, feeds
	case '\r', '\b', '\t':
		return 1, moves
	case '\x1b':
	default:
		n = bytes.IndexFunc(b, func(r rune) bool { return r < ' ' })
		if n < 0 {
			n = len(b)
		}
		return max(n, 1), draws
	}
	if len(b) < 2 {
		return 1, moves
	}
	switch b[1] {
	case '[':
		n = sequence(string(b))
		switch b[n-1] {
		case 'm':
			return n, style
		case 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'Z', 'd', 'f', '`', 'r', 'h', 'l':
			return n, moves
		}
		return n, draws
	case ']': // a hyperlink, up to its terminator
		if end := bytes.IndexAny(b, "\a"); end >= 0 {
			return end + 1, links
		}
		if end := bytes.Index(b, []byte("\x1b\\")); end >= 0 {
			return end + 2, links
		}
		return len(b), links
	}
	return 2, moves
}
