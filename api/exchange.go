package api

import (
	"encoding/json"
	"errors"
	"time"

	"tillwatch/api/quota"
)

// Response describes the answer that a resource was read from. It is zero in a
// resource that was decoded from anything else, such as the body of a webhook.
type Response struct {
	Sent      time.Time   // when the request went out, after any wait for quota: what it answers is not older
	Status    int         // the HTTP status
	RequestID Text        // the id that the provider's support asks for; "" when the answer has none
	From      Environment // what answered
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
	Err       error          `json:"-"`                   // nil after a success, and where a list is not served that need not be
}

type plainExchange Exchange

// MarshalJSON tells the error by its text.
func (e Exchange) MarshalJSON() ([]byte, error) {
	told := struct {
		plainExchange
		Error Text `json:"error,omitempty"`
	}{plainExchange: plainExchange(e)}
	if e.Err != nil {
		told.Error = Scrub(e.Err.Error())
	}
	return json.Marshal(told)
}

// UnmarshalJSON makes an error of its text.
func (e *Exchange) UnmarshalJSON(raw []byte) error {
	told := struct {
		*plainExchange
		Error string `json:"error"`
	}{plainExchange: (*plainExchange)(e)}
	err := json.Unmarshal(raw, &told)
	if e.Err = nil; told.Error != "" {
		e.Err = errors.New(string(Scrub(told.Error)))
	}
	return err
}
