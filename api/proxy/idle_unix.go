//go:build unix

package proxy

import (
	"errors"
	"syscall"
)

// seesIdle reports whether this system shows what comes over a connection that nobody reads from.
const seesIdle = true

// nothingCame reports whether nothing waits to be read from a socket, not even its end.
func nothingCame(socket syscall.RawConn) bool {
	var came error
	err := socket.Read(func(fd uintptr) bool {
		_, _, came = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return true
	})
	return err == nil && (errors.Is(came, syscall.EAGAIN) || errors.Is(came, syscall.EWOULDBLOCK))
}
