package api

import (
	"net/http/httptrace"
	"sync/atomic"
)

// connectionTrace learns whether a request may have left. A connection that was
// asked for and never got proves that it did not; a connection that was got
// proves nothing, for the bytes are written by another goroutine. A transport
// that asks for no connection through net/http proves nothing either.
type connectionTrace struct {
	asked, got atomic.Bool
}

func (t *connectionTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	}
}

func (t *connectionTrace) maybeSent() bool { return t.got.Load() || !t.asked.Load() }
