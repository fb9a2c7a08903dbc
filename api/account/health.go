package account

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// APIState is the service's health by the latest calls.
type APIState uint8

// The states of the API.
const (
	APIUnknown APIState = iota // not called yet
	APIHealthy
	APISlow         // pausing for quota or backing off
	APIFailing      // the last calls failed
	APIUnauthorized // the service refuses the key
)

// String returns the state's name.
func (s APIState) String() string {
	return wordOf(s, "unknown", "healthy", "slow", "failing", "unauthorized")
}

// APIStatus is the service's health and since when.
type APIStatus struct {
	State   APIState        `json:"state"`
	Since   time.Time       `json:"since,omitzero"`     // when the state began; zero before the first call
	Latency time.Duration   `json:"latencyNs,omitzero"` // of the last answered call; 0 before the first
	Err     error           `json:"-"`                  // of the last failed call; nil before the first
	From    api.Environment `json:"from,omitempty"`     // the environment that gave the last answer; zero before the first
	TryAt   time.Time       `json:"tryAt,omitzero"`     // when a refused key is tried again; zero while it is accepted
}

// failuresInARow is how many calls must fail in a row before the service counts as failing: a single one may be
// chance.
const failuresInARow = 2

// health derives the service's health from its calls.
type health struct {
	APIStatus
	slowAfter time.Duration // the pause for quota from which the service counts as slow
	failures  int           // exchanges in a row that failed
	clock     clockCheck

	shipmentsRead bool // with the key in use
}

// exchanged takes in one more call.
func (h *health) exchanged(e *api.Exchange, now time.Time) {
	if e.Status != 0 {
		h.Latency, h.From = e.Latency, e.From
		h.clock.answered(e)
	}
	if e.Err != nil {
		h.Err = e.Err
	}
	h.turn(h.judge(e), now)
}

// refuseKey records that a call was answered 401.
func (h *health) refuseKey(err error, now time.Time) {
	h.Err = err
	h.turn(APIUnauthorized, now)
}

// acceptKey records that a call was answered after the key had been refused.
func (h *health) acceptKey(now time.Time) {
	h.TryAt = time.Time{}
	if h.State == APIUnauthorized {
		h.turn(APIHealthy, now)
	}
}

// refused reports whether the last answer that depends on the key refused it.
func (h *health) refused() bool { return h.State == APIUnauthorized }

func (h *health) turn(state APIState, now time.Time) {
	if h.State != state {
		h.State, h.Since = state, now
	}
}

// judge returns the state after a call. An answer that is neither a refusal nor a success by the contract comes
// from something other than the service, such as a sign-in page, or says that the key may not do that.
func (h *health) judge(e *api.Exchange) APIState {
	switch {
	case errors.Is(e.Err, context.Canceled), errors.Is(e.Err, api.ErrScope) && readsShipments(e) && !h.shipmentsRead:
		return h.State
	case e.Status == 401:
		h.failures = 0
		return APIUnauthorized
	case e.Status < 400 && e.Err != nil, e.Status >= 500, errors.Is(e.Err, api.ErrNotFound) && !errors.Is(e.Err, api.ErrMissing),
		e.Method == http.MethodGet && e.Err != nil && !refusesRead(e.Err):
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

// readsShipments reports whether a call reads shipments, for which a key may lack the scope.
func readsShipments(e *api.Exchange) bool {
	path, _, _ := strings.Cut(e.Path, "?")
	template, class := quota.EndpointOf(e.Method, path, "")
	return class == quota.Reads && strings.Contains(template, "/shipments")
}

// refusesRead reports whether an error is a refusal of a read by the contract.
func refusesRead(err error) bool {
	return errors.Is(err, api.ErrMissing) || errors.Is(err, api.ErrValidation) || errors.Is(err, api.ErrRateLimited)
}

// MarshalText returns the state's name.
func (s APIState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes an unknown name for the first state.
func (s *APIState) UnmarshalText(word []byte) error {
	*s = stateOfWord(word, APIUnauthorized)
	return nil
}
