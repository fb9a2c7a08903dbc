package quota

import "time"

// Observation is one request of the account and what its answer reported, as a proxy or a [Transport] saw it. It
// holds no body, no header and no key.
type Observation struct {
	ID         string        `json:"id"`                    // unique, made by the observer: repeated reports count once
	Sent       time.Time     `json:"sent"`                  // when the request went out
	Latency    time.Duration `json:"latencyNs,omitzero"`    // from Sent to the end of the answer, or to its failure
	Method     string        `json:"method"`                // as sent
	Endpoint   string        `json:"endpoint"`              // the path as a template ("/api/v1/checkout-intents/{id}"), without a query
	Class      Class         `json:"class,omitempty"`       // the bucket it charges; "" if the contract names none
	Status     int           `json:"status,omitempty"`      // 0 when no answer came
	Reports    []Report      `json:"reports,omitempty"`     // what RateLimit and RateLimit-Policy said
	RetryAfter time.Duration `json:"retryAfterNs,omitzero"` // what Retry-After asked for; 0 when nothing
	Key        string        `json:"key,omitempty"`         // a salted fingerprint of the API key, distinct for each key; "" without a key
	Spender    string        `json:"spender,omitempty"`     // the name that the caller gave, printable; "" when it gave none
	IntentID   string        `json:"intentId,omitempty"`    // the intent that the answer showed; "" when it showed none
	State      string        `json:"state,omitempty"`       // that intent's state as answered
	Reference  string        `json:"reference,omitempty"`   // that intent's referenceId
}
