package account

import (
	"time"

	"tillwatch/api"
)

// How long before a read that found a new state another one may lie, so that the
// moment counts as seen: between them it happened. An order is placed in seconds, so
// that a confirm which is not known to a few of them would make up its time; of an
// end, which reads further apart find, the minute counts.
const (
	closeReads     = 30 * time.Second
	closeToConfirm = 5 * time.Second
	closeToTheEnd  = 150 * time.Second
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
		limit, known = closeToConfirm, i.ConfirmedAt
	case state.Terminal():
		limit, known = closeToTheEnd, i.EndedAt
	}
	if known.IsZero() && (exact || within <= limit) {
		i.entered(state, at)
	}
	i.FoundEnded = state.Terminal() && i.EndedAt.IsZero()
}
