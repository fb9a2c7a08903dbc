package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of failed calls, for errors.Is (contract, Errors). A 429 is
// [ErrRateLimited] and one of the three limits as well.
var (
	ErrNotFound     = errors.New("not found")                  // 404, by whatever server
	ErrMissing      = errors.New("does not exist")             // a 404 with the contract's body: the service says so itself
	ErrUnauthorized = errors.New("unauthorized")               // 401
	ErrForbidden    = errors.New("forbidden")                  // 403: not shown by the contract, seen in public
	ErrScope        = errors.New("lacks a scope")              // a 403 with the contract's body: others come from something before the service
	ErrValidation   = errors.New("validation failed")          // 422: [Error.Fields] says what was wrong
	ErrRateLimited  = errors.New("rate limited")               // any 429
	ErrPerSecond    = errors.New("per-second limit")           // a 429 that passes within seconds
	ErrDailyLimit   = errors.New("daily limit")                // a 429 that an immediate retry does not help
	ErrAgentsLimit  = errors.New("concurrent agents cap")      // a 429 that an immediate retry does not help
	ErrConflict     = errors.New("conflict")                   // 409: not shown by the contract, seen in public
	ErrNotServed    = errors.New("not served by this service") // a list that the contract does not show
)

// Error is an answer of the service that is not a success (contract, Errors). It
// prints neither the service's stack nor the values of refused fields: both may
// hold personal data.
type Error struct {
	Method     string        // of the request
	Path       string        // of the request, without the values of its query
	Sent       time.Time     // when the request went out, after any wait for quota
	From       Environment   // what answered
	Status     int           // the HTTP status
	Name       Text          // the service's name for the error; "" when absent
	Message    Text          // what the service says; "" when absent
	Fields     []FieldError  // the refused fields of a 422, in the order of the answer
	RequestID  Text          // the id that the provider's support asks for; "" when absent
	RetryAfter time.Duration // how long the service asks to wait; 0 when absent, 25 hours at most
	Reset      time.Duration // until the last of the quotas that are used up comes back; 0 when none is, or absent
	State      IntentState   // the state that some conflicts name; "" when absent
}

// FieldError is one refused field of a 422.
type FieldError struct {
	Field   Text `json:"field"`
	Message Text `json:"message"`
	Value   Text `json:"value,omitempty"` // what was refused, as JSON that [Masked] would show; "" when absent
}

// Error says what was asked, how it ended and which fields were refused.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d", e.Method, e.Path, e.Status)
	if name := http.StatusText(e.Status); name != "" {
		b.WriteString(" " + strings.ToLower(name))
	}
	if said := e.said(); said != "" {
		b.WriteString(": " + said)
	}
	if e.State != "" {
		fmt.Fprintf(&b, " (state %s)", e.State)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, " (retry after %s)", Span(e.RetryAfter))
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request id %s)", e.RequestID)
	}
	if e.Status == http.StatusNotFound && !e.Is(ErrMissing) {
		b.WriteString(" (not as the service says it: is the base URL right?)")
	}
	return b.String()
}

// said joins the message, or else the name, with the refused fields.
func (e *Error) said() string {
	const mostFields, longest = 8, 400
	var parts []string
	if e.Message != "" {
		parts = append(parts, cut(string(e.Message), longest))
	} else if e.Name != "" {
		parts = append(parts, cut(string(e.Name), longest))
	}
	for i, field := range e.Fields {
		if i == mostFields {
			parts = append(parts, fmt.Sprintf("and %d more fields", len(e.Fields)-i))
			break
		}
		parts = append(parts, cut(string(field.Field), longest)+": "+cut(string(field.Message), longest))
	}
	return strings.Join(parts, "; ")
}

// Is reports whether the answer is of the kind of target.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrMissing:
		return e.Status == http.StatusNotFound && e.Name != ""
	case ErrUnauthorized:
		return e.Status == http.StatusUnauthorized
	case ErrForbidden:
		return e.Status == http.StatusForbidden
	case ErrScope:
		return e.Status == http.StatusForbidden && e.Name != ""
	case ErrConflict:
		return e.Status == http.StatusConflict
	case ErrValidation:
		return e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest && len(e.Fields) > 0
	case ErrRateLimited:
		return e.Status == http.StatusTooManyRequests
	case ErrPerSecond, ErrDailyLimit, ErrAgentsLimit:
		return e.Status == http.StatusTooManyRequests && e.limit() == target
	}
	return false
}

// limit is the limit that a 429 ran into. In the contract only their messages differ;
// after any other message, the wait decides.
func (e *Error) limit() error {
	const patience = time.Minute
	message := strings.ToLower(string(e.Message))
	switch {
	case strings.Contains(message, "per second"):
		return ErrPerSecond
	case strings.Contains(message, "agent"):
		return ErrAgentsLimit
	case strings.Contains(message, "day"), strings.Contains(message, "daily"), strings.Contains(message, "24 h"):
		return ErrDailyLimit
	case e.RetryAfter > patience:
		return ErrDailyLimit
	case e.RetryAfter == 0 && e.Reset > patience:
		return ErrDailyLimit
	}
	return ErrPerSecond
}

// Wait is how long the service asks to wait; 0 where it does not say.
func (e *Error) Wait() time.Duration { return cmp.Or(e.RetryAfter, e.Reset) }

// NamedLimit is the limit that the message of a 429 names, as in "the limit of 50
// checkout intents per day"; 0 where it names none. A number of hours or the like
// does not count.
func (e *Error) NamedLimit() int {
	spans := []string{"h", "hr", "hour", "m", "min", "minute", "", "sec", "second", "day"}
	for _, found := range numberAndUnit.FindAllStringSubmatch(strings.ToLower(string(e.Message)), -1) {
		limit, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
		if span := strings.TrimSuffix(found[2], "s"); err == nil && limit > 0 && (found[2] == "" || !slices.Contains(spans, span)) {
			return limit
		}
	}
	return 0
}

// numberAndUnit finds "50", "2,000" and the word after it.
var numberAndUnit = regexp.MustCompile(`\b(\d[\d,]{0,8})\b\s*([a-z]*)`)
