package account

import (
	"time"

	"tillwatch/api"
)

// How long before a read that found a new state another one may lie, so that the
// moment counts as seen: between them it happened. An end is found by reads that
// lie further apart, and what counts of it is the minute.
const (
	closeReads    = 30 * time.Second
	closeToTheEnd = 150 * time.Second
)

// entered notes that an intent was known to enter a state at a moment.
func (i *Intent) entered(state api.IntentState, at time.Time) {
	switch state {
	case api.AwaitingConfirmation:
		i.OfferedAt = at
	case api.PlacingOrder:
		i.ConfirmedAt = at
	case api.Completed, api.Failed:
		i.EndedAt = at
	}
}

// sawEnter notes that an intent was found in a state which it had entered at a
// moment: exactly then, or within a time before it. What an event said is exact and
// stays.
func (i *Intent) sawEnter(state api.IntentState, at time.Time, exact bool, within time.Duration) {
	limit, known := closeReads, i.OfferedAt
	switch {
	case state == api.PlacingOrder:
		known = i.ConfirmedAt
	case state.Terminal():
		limit, known = closeToTheEnd, i.EndedAt
	}
	if known.IsZero() && (exact || within <= limit) {
		i.entered(state, at)
	}
}
