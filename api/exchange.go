package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api/quota"
)

// Response describes the answer that a resource was read from. It is zero in a
// resource that was decoded from anything else, such as the body of a webhook.
type Response struct {
	Sent      time.Time   // when the request went out, after any wait for quota: what it answers is not older
	Status    int         // the HTTP status
	RequestID Text        // the id that the provider's support asks for; "" when the answer has none
	From      Environment // what answered
	Date      time.Time   // when it was answered, by the service's clock; zero if the answer does not say
}

// Exchange is one request and its answer, as an observer sees it. It holds no
// header and no body, so it holds no secret.
type Exchange struct {
	By        Text           `json:"by,omitempty"` // who sent it; "" is this client
	Method    string         `json:"method"`
	Path      string         `json:"path"` // as sent, without the query's values
	Class     quota.Class    `json:"class"`
	Priority  quota.Priority `json:"priority"`
	Attempt   int            `json:"attempt,omitempty"`   // 1 for the first
	Sent      time.Time      `json:"sent,omitzero"`       // when the request went out, after any wait for quota
	Waited    time.Duration  `json:"waitedNs,omitzero"`   // for quota, before Sent
	Latency   time.Duration  `json:"latencyNs,omitzero"`  // from Sent to the end of the answer
	Status    int            `json:"status,omitempty"`    // 0 when no answer came
	RequestID Text           `json:"requestId,omitempty"` // "" when the answer has none
	From      Environment    `json:"from,omitzero"`       // what answered; zero when no answer came
	Date      time.Time      `json:"-"`                   // when it was answered, by the service's clock; zero if the answer does not say
	Err       error          `json:"-"`                   // nil after a success, and where a list is not served that need not be
}

// ClockAhead returns how far this machine's clock is ahead of the service's, or behind it
// if negative, and by how much that may be wrong: a Date has whole seconds (RFC 9110,
// section 6.6.1), and the answer was made at any moment of Latency. ok is false if the
// answer has no Date.
func (e *Exchange) ClockAhead() (ahead, doubt time.Duration, ok bool) {
	if e.Date.IsZero() {
		return 0, 0, false
	}
	half := e.Latency / 2
	return e.Sent.Add(half).Sub(e.Date.Add(time.Second / 2)), half + time.Second/2, true
}

// dateOf returns the Date of an answer; zero if it has none, or comes from a cache, which
// keeps the Date of the first answer (RFC 9111, section 5.1).
func dateOf(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil || h.Get("Age") != "" {
		return time.Time{}
	}
	return at
}

type plainExchange Exchange

// MarshalJSON writes the error as its text.
func (e Exchange) MarshalJSON() ([]byte, error) { return MarshalWithError(plainExchange(e), e.Err) }

// UnmarshalJSON reads the text of the error as an error.
func (e *Exchange) UnmarshalJSON(raw []byte) error {
	e.Err = ErrorWithin(raw)
	return json.Unmarshal(raw, (*plainExchange)(e))
}

// MarshalWithError returns the JSON of an object that has fields. An error adds one more,
// "error", with its text.
func MarshalWithError(object any, err error) ([]byte, error) {
	raw, failed := json.Marshal(object)
	if failed != nil || err == nil {
		return raw, failed
	}
	text, failed := json.Marshal(Scrub(err.Error()))
	return fmt.Appendf(bytes.TrimSuffix(raw, []byte("}")), `,"error":%s}`, text), failed
}

// ErrorWithin returns the error that [MarshalWithError] wrote, by its text; nil where it
// wrote none.
func ErrorWithin(raw []byte) error {
	text := textOf(gjson.GetBytes(raw, "error"))
	if text == "" {
		return nil
	}
	return errors.New(string(text))
}
