package account

import (
	"context"
	"errors"
	"time"

	"tillwatch/api"
)

// APIState is the health of the service as the last calls showed it.
type APIState uint8

// The states of the API.
const (
	APIUnknown APIState = iota // not called yet
	APIHealthy
	APISlow         // pausing for quota, or backing off
	APIFailing      // the last calls failed
	APIUnauthorized // the key is refused
)

// String is the state in a word.
func (s APIState) String() string {
	return wordOf(s, "unknown", "healthy", "slow", "failing", "unauthorized")
}

// APIStatus is the health of the service.
type APIStatus struct {
	State   APIState        `json:"state"`
	Since   time.Time       `json:"since,omitzero"`     // when the state began; zero before the first call
	Latency time.Duration   `json:"latencyNs,omitzero"` // of the last answered call; 0 before the first
	Err     error           `json:"-"`                  // of the last failed call; nil before the first
	From    api.Environment `json:"from,omitempty"`     // what gave the last answer; "" before the first
	TryAt   time.Time       `json:"tryAt,omitzero"`     // when a refused key is tried again; zero while it is not refused
}

// failuresInARow is how many calls must fail until the service counts as failing:
// one alone may be chance.
const failuresInARow = 2

// health is that of the service, by the last calls.
type health struct {
	APIStatus
	slowAfter time.Duration // a pause for quota from which the service counts as slow
	failures  int           // exchanges in a row that failed
}

// exchanged judges the health by one more exchange.
func (h *health) exchanged(e *api.Exchange, now time.Time) {
	if e.Status != 0 {
		h.Latency, h.From = e.Latency, e.From
	}
	if e.Err != nil {
		h.Err = e.Err
	}
	h.turn(h.judge(e), now)
}

// refuseKey notes that a call was answered 401.
func (h *health) refuseKey(err error, now time.Time) {
	h.Err = err
	h.turn(APIUnauthorized, now)
}

// acceptKey notes that a call was answered after the key had been refused.
func (h *health) acceptKey(now time.Time) {
	h.TryAt = time.Time{}
	if h.State == APIUnauthorized {
		h.turn(APIHealthy, now)
	}
}

// refused reports whether the last answer that says something of the key refused it.
func (h *health) refused() bool { return h.State == APIUnauthorized }

func (h *health) turn(state APIState, now time.Time) {
	if h.State != state {
		h.State, h.Since = state, now
	}
}

// judge is the state after an exchange. An answer that is no success and no
// refusal, and a success that is not of the contract, come from something else
// than the service that was asked for: a sign-in page, for one.
func (h *health) judge(e *api.Exchange) APIState {
	switch {
	case errors.Is(e.Err, context.Canceled):
		return h.State
	case e.Status == 401:
		h.failures = 0
		return APIUnauthorized
	case e.Status < 400 && e.Err != nil || e.Status >= 500:
		h.failures++
		if h.failures >= failuresInARow {
			return APIFailing
		}
		return h.State
	}
	h.failures = 0
	if e.Status == 429 || e.Waited >= h.slowAfter {
		return APISlow
	}
	return APIHealthy
}

// MarshalText makes the state the word that it has in JSON.
func (s APIState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes a word that is not known for the first state.
func (s *APIState) UnmarshalText(word []byte) error {
	*s = stateOfWord(word, APIUnauthorized)
	return nil
}
