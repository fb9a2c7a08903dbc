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

// hooks also calls written once the whole request was written.
func (t *connectionTrace) hooks(written func()) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
		WroteRequest: func(done httptrace.WroteRequestInfo) {
			if done.Err == nil {
				written()
			}
		},
	}
}

func (t *connectionTrace) maybeSent() bool { return t.got.Load() || !t.asked.Load() }
