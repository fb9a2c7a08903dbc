package paint

import "tillwatch/ui/weblink"

// Link is [Line.Put] for text that leads to an address, where the terminal knows
// hyperlinks (OSC 8). An address that a browser would be given in another form does
// not become one.
func (l *Line) Link(st Style, text, address string) *Line {
	link, err := weblink.Parse(address)
	if err != nil || link.Address != address || l.Left() <= 0 || text == "" {
		return l.Put(st, text)
	}
	l.begin(st)
	l.buf = append(append(append(l.buf, "\x1b]8;;"...), address...), "\x1b\\"...)
	l.Put(st, text)
	l.buf = append(l.buf, "\x1b]8;;\x1b\\"...)
	return l
}
