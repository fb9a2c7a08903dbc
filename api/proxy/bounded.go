package proxy

import (
	"errors"
	"net"
)

var errHeaderTooLarge = errors.New("the header is too large")

// bounded is a connection from which only so many bytes are read: a header ends somewhere.
type bounded struct {
	net.Conn
	left int // bytes that may still be read
}

// Read implements [io.Reader].
func (b *bounded) Read(part []byte) (int, error) {
	if b.left <= 0 {
		return 0, errHeaderTooLarge
	}
	n, err := b.Conn.Read(part[:min(len(part), b.left)])
	b.left -= n
	return n, err
}
