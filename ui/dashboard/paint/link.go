package paint

import "tillwatch/ui/weblink"

// Link is like [Line.Put], with a hyperlink to an address (OSC 8). It makes no link if
// the browser would get the address in another form.
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
