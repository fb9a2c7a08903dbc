package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// TransportError is a call that ended without an answer.
type TransportError struct {
	Method string // of the request
	Path   string // of the request, without the values of its query
	// MaybeSent reports whether the service may have got the request: true from
	// the moment a connection was at hand.
	MaybeSent bool
	Err       error // the cause
}

// Error says what was asked and why no answer came.
func (e *TransportError) Error() string {
	if e.MaybeSent {
		return fmt.Sprintf("%s %s: no answer: %v", e.Method, e.Path, e.Err)
	}
	return fmt.Sprintf("%s %s: not sent: %v", e.Method, e.Path, e.Err)
}

// Unwrap returns the cause: context.Canceled after a cancellation, for one.
func (e *TransportError) Unwrap() error { return e.Err }

// UnreadableError is a success whose body could not be read, or is not what the
// contract says.
type UnreadableError struct {
	Method string // of the request
	Path   string // of the request, without the values of its query
	Status int    // the HTTP status
	Err    error  // the cause

	brokenOff bool // it ended before it was whole, so the next may be
}

// Error says what was asked and what was wrong with the answer.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s %s: %d, but its body is unreadable: %v", e.Method, e.Path, e.Status, e.Err)
}

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// IsUnknownOutcome reports whether a request may or may not have taken effect:
// it ended without an answer after it may have been sent, with a 5xx, a 408 or a
// redirect, or with a success that could not be read. Any other 4xx is a definite
// refusal, and a request that never left had no effect.
func IsUnknownOutcome(err error) bool {
	if answer := (*Error)(nil); errors.As(err, &answer) {
		refused := answer.Status/100 == 4 && answer.Status != http.StatusRequestTimeout
		return !refused
	}
	if transport := (*TransportError)(nil); errors.As(err, &transport) {
		return transport.MaybeSent
	}
	if unreadable := (*UnreadableError)(nil); errors.As(err, &unreadable) {
		return true
	}
	// Other layers may hand on a bare error of a request that was cut off.
	if network := net.Error(nil); errors.As(err, &network) && network.Timeout() {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}
