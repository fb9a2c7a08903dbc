// Package delivery holds what becomes of events on their way to an endpoint,
// whoever sends them: the forwarder or the stand-in.
package delivery

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"tillwatch/api"
)

// State is how a delivery stands.
type State string

// The states.
const (
	Waiting   State = "waiting" // for its next attempt
	Sending   State = "sending" // an attempt is under way
	Delivered State = "delivered"
	Dead      State = "dead" // given up: nothing sends it again by itself
	Lost      State = "lost" // never sent, as the stand-in was told to lose it
)

// States lists them.
func States() []State { return []State{Waiting, Sending, Delivered, Dead, Lost} }

// Delivery is one event on its way to one target. It is immutable: what changes
// puts a new one in its place, with the same ID.
type Delivery struct {
	ID       api.ID        `json:"id"`
	Target   api.Text      `json:"target"` // its address, without what is secret in it
	Event    api.ID        `json:"event"`
	Type     api.EventType `json:"type"`   // as remote as the event: to be scrubbed where it is shown
	Source   api.ID        `json:"source"` // the id of what the event speaks of
	State    State         `json:"state"`
	Since    time.Time     `json:"since,omitzero"`   // when it came about; no attempt moves that
	Attempts int           `json:"attempts"`         // begun, the one under way among them
	Sent     time.Time     `json:"sent,omitzero"`    // when the last attempt began; zero before the first
	Took     time.Duration `json:"tookNs,omitempty"` // of the last answered or failed attempt
	Status   int           `json:"status,omitempty"` // of its answer; 0 where there was none
	Error    api.Text      `json:"error,omitempty"`  // why that attempt came to nothing; "" where it did not
	Next     time.Time     `json:"next,omitzero"`    // when it is tried again; zero where it is not
	Request  Message       `json:"request,omitzero"` // as last sent
	Answer   Message       `json:"answer,omitzero"`  // to that; zero where there was none
}

// Message is one side of an attempt as it went over the wire. It is not scrubbed.
type Message struct {
	Header http.Header `json:"header,omitempty"` // no value of it is a secret: whoever keeps a delivery puts [Hidden] in its place
	Body   Body        `json:"body,omitempty"`   // of an answer at most [KeptAnswer] bytes
}

// Body is that of a message. In JSON it is a text, with U+FFFD for what is no UTF-8.
type Body []byte

// MarshalText implements [encoding.TextMarshaler].
func (b Body) MarshalText() ([]byte, error) { return b, nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Body) UnmarshalText(text []byte) error {
	*b = bytes.Clone(text)
	return nil
}

// Hidden stands for the value of a header that is a secret.
const Hidden = "[redacted]"

// KeptAnswer is how much of the body of an answer is kept, in bytes.
const KeptAnswer = 4 << 10

// AnswersChallenge reports whether a receiver's answer is the one that a challenge to a
// source wants, and no more.
func AnswersChallenge(answer []byte, source string) bool {
	var said map[string]string
	return json.Unmarshal(answer, &said) == nil && len(said) == 1 && said["challenge"] == source
}
