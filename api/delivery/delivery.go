// Package delivery describes deliveries of events to an endpoint. The forwarder and the stand-in share it.
package delivery

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"tillwatch/api"
)

// State is the state of a delivery.
type State string

// The states.
const (
	Waiting   State = "waiting" // for its next attempt
	Sending   State = "sending" // an attempt is under way
	Delivered State = "delivered"
	Dead      State = "dead" // given up: nothing sends it again by itself
	Lost      State = "lost" // never sent, because of a fault of the stand-in
)

// Delivery is one event on its way to one target. It is immutable: a change makes a
// new Delivery with the same ID.
type Delivery struct {
	ID       api.ID        `json:"id,omitempty"`
	Target   api.Text      `json:"target"` // its address, without secrets
	Event    api.ID        `json:"event"`
	Type     api.EventType `json:"type"`   // remote text: scrub it before showing it
	Source   api.ID        `json:"source"` // the event's source: an intent, a shipment, a product or an endpoint
	State    State         `json:"state"`
	Since    time.Time     `json:"since,omitzero"`   // when it was created; attempts do not change it
	Attempts int           `json:"attempts"`         // attempts begun, including one under way
	Sent     time.Time     `json:"sent,omitzero"`    // when the last attempt began; zero before the first
	Took     time.Duration `json:"tookNs,omitempty"` // duration of the last attempt that ended
	Status   int           `json:"status,omitempty"` // of its answer; 0 if there was none
	Error    api.Text      `json:"error,omitempty"`  // why that attempt failed; "" if it did not
	Next     time.Time     `json:"next,omitzero"`    // when the next attempt is due; zero if there is none
	Request  Message       `json:"request,omitzero"` // the last request
	Answer   Message       `json:"answer,omitzero"`  // its answer; zero if there was none
}

// Message is one side of an attempt as it went over the wire. It is not scrubbed.
type Message struct {
	Header http.Header `json:"header,omitempty"`
	Body   Body        `json:"body,omitempty"` // at most [KeptAnswer] bytes of an answer
}

// Body is the body of a message. JSON encodes it as a string, with U+FFFD for invalid
// UTF-8.
type Body []byte

// MarshalText implements [encoding.TextMarshaler].
func (b Body) MarshalText() ([]byte, error) { return b, nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Body) UnmarshalText(text []byte) error {
	*b = bytes.Clone(text)
	return nil
}

// KeptAnswer is how many bytes of an answer's body are kept.
const KeptAnswer = 4 << 10

// AnswersChallenge reports whether a receiver's answer is exactly the one that the
// challenge with this source requires (contract, Webhook receiver contract).
func AnswersChallenge(answer []byte, source string) bool {
	var said map[string]string
	return json.Unmarshal(answer, &said) == nil && len(said) == 1 && said["challenge"] == source
}
