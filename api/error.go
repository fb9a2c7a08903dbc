package api

import (
	"errors"
	"time"
)

// What a failed call can be asked for with errors.Is.
var (
	ErrNotFound     = errors.New("not found")
	ErrUnauthorized = errors.New("unauthorized")
	ErrValidation   = errors.New("validation failed")
	ErrRateLimited  = errors.New("rate limited")          // any 429
	ErrPerSecond    = errors.New("per-second limit")      // a 429 that passes within seconds
	ErrDailyLimit   = errors.New("daily limit")           // a 429 that an immediate retry does not help
	ErrAgentsLimit  = errors.New("concurrent agents cap") // a 429 that an immediate retry does not help
	ErrConflict     = errors.New("conflict")              // 409: not shown by the contract, seen in public
	ErrNotServed    = errors.New("not served by this service")
)

// Error is an answer of the service that is no success (contract, Errors). It
// prints neither the service's stack nor the values of refused fields: both may
// hold personal data.
type Error struct {
	Method     string
	Path       string
	Status     int
	Name       Text
	Message    Text
	Fields     []FieldError
	RequestID  Text
	RetryAfter time.Duration // 0 when absent
	State      IntentState   // the state that some conflicts name
}

// FieldError is one refused field of a 422.
type FieldError struct{ Field, Message Text }

// Error says what was asked, how it ended and which fields were refused.
func (e *Error) Error() string { panic("unwritten") }

// Is reports whether the answer is of the kind of target.
func (e *Error) Is(target error) bool { panic("unwritten") }

// IsUnknownOutcome reports whether a request may or may not have taken effect:
// it ended without an answer after it may have been sent, or with a 5xx.
func IsUnknownOutcome(err error) bool { panic("unwritten") }
