package job

import (
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// mostPasted is how many bytes of a paste are read. No field takes as many, so that
// one that was cut off is refused as too long.
const mostPasted = 64 << 10

// cut bounds a paste that was read whole, as on Windows, where no [pasted] is before the
// reader.
func cut(e uv.PasteEvent) uv.PasteEvent {
	if len(e.Content) > mostPasted {
		e.Content = strings.ToValidUTF8(e.Content[:mostPasted], "")
	}
	return e
}

// pasted bounds pastes in what is read from a terminal: "\x1b[200~" begins one, and
// "\x1b[201~" ends it.
type pasted struct {
	inside bool
	left   int    // bytes that the paste may still bring
	held   []byte // what may become a mark
}

// marks reports whether a byte goes on with what may become a mark.
func marks(at int, b byte) bool {
	if at == 4 {
		return b == '0' || b == '1'
	}
	const mark = "\x1b[20?~"
	return b == mark[at]
}

// bound returns what is passed on of the bytes that were read.
func (p *pasted) bound(read []byte) (out []byte) {
	for _, b := range read {
		if !marks(len(p.held), b) {
			if p.inside {
				out = p.take(out, p.held)
			}
			p.held = p.held[:0]
		}
		held := marks(len(p.held), b)
		if held {
			p.held = append(p.held, b)
		}
		switch {
		case !p.inside:
			out = append(out, b)
		case !held:
			out = p.take(out, []byte{b})
		}
		if held && b == '~' {
			out = p.marked(out, p.held[4] == '1')
		}
	}
	return out
}

// take passes pasted bytes on, as far as there is room.
func (p *pasted) take(out, read []byte) []byte {
	n := min(len(read), p.left)
	p.left -= n
	return append(out, read[:n]...)
}

// marked begins or ends a paste.
func (p *pasted) marked(out []byte, end bool) []byte {
	switch {
	case p.inside && end:
		out = append(out, p.held...)
	case p.inside:
		out = p.take(out, p.held)
	default:
		p.left = mostPasted
	}
	p.inside, p.held = !end, p.held[:0]
	return out
}
