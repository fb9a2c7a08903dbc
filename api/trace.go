package api

import (
	"context"
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

type departureKey struct{}

// WithDeparture has the client call allow when a request of ctx is about to go out, after every wait. An error
// holds the request back. Otherwise the client calls written, once or more often, when the request was written or
// has ended.
func WithDeparture(ctx context.Context, allow func() (written func(), err error)) context.Context {
	return context.WithValue(ctx, departureKey{}, allow)
}

// depart asks whether a request of ctx may go out now.
func depart(ctx context.Context) (written func(), err error) {
	allow, ok := ctx.Value(departureKey{}).(func() (func(), error))
	if !ok {
		return func() {}, nil
	}
	return allow()
}
