// Package weblink makes web addresses out of remote text, so that the address that a
// person reads is the one that a browser opens.
package weblink

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// longest bounds an address, in bytes.
const longest = 2000

// Link is an https address of printable ASCII, without user information.
type Link struct {
	Address string
	Host    string // with its port, if it has one; in punycode if it has letters beyond ASCII
}

// The reasons why a text is not a link.
var (
	ErrNotWeb  = errors.New("it is not an https address")
	ErrUser    = errors.New("it contains a user name, which hides the host")
	ErrHost    = errors.New("its host is not a valid name")
	ErrTooLong = errors.New("it is longer than 2,000 bytes")
)

// Parse makes a link of an address. Letters beyond ASCII become punycode in the host
// and percent signs elsewhere, so that none can pose as another.
func Parse(address string) (Link, error) {
	if len(address) > longest {
		return Link{}, ErrTooLong
	}
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil, u.Scheme != "https", u.Opaque != "", !utf8.ValidString(address):
		return Link{}, ErrNotWeb
	case u.User != nil:
		return Link{}, ErrUser
	}
	port := u.Port()
	if host := u.Hostname(); net.ParseIP(host) == nil {
		name, err := idna.Lookup.ToASCII(host)
		if err != nil || name == "" {
			return Link{}, ErrHost
		}
		u.Host = name
		if port != "" {
			u.Host = name + ":" + port
		}
	}
	link := Link{escaped(u.String()), u.Host}
	if len(link.Address) > longest {
		return Link{}, ErrTooLong
	}
	return link, nil
}

// escaped writes what is not printable ASCII, or means something to a shell, a
// terminal or a page, with percent signs.
func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c <= 0x20 || c >= 0x7f || strings.IndexByte(`"<>\^'`+"`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
