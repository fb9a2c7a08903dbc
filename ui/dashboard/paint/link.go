package paint

import (
	"net/url"
	"strings"
)

// longestLink bounds the address of a hyperlink, in bytes.
const longestLink = 2000

// Link is [Line.Put] for text that leads to an address, where the terminal knows
// hyperlinks (OSC 8). Only an https address of printable ASCII with a host and
// without user information becomes one.
func (l *Line) Link(st Style, text, address string) *Line {
	if !linkable(address) || l.Left() <= 0 || text == "" {
		return l.Put(st, text)
	}
	l.begin(st)
	l.buf = append(append(append(l.buf, "\x1b]8;;"...), address...), "\x1b\\"...)
	l.Put(st, text)
	l.buf = append(l.buf, "\x1b]8;;\x1b\\"...)
	return l
}

func linkable(address string) bool {
	if len(address) > longestLink || !strings.HasPrefix(address, "https://") {
		return false
	}
	for i := range len(address) {
		if c := address[i]; c <= 0x20 || c >= 0x7f || strings.IndexByte(`"<>\^`+"`{|}", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && u.Hostname() != "" && u.User == nil
}
