package account

import (
	"time"

	"tillwatch/api"
)

// How close two reads must be for a change between them to count as seen. Placing takes seconds, so a confirm must
// be known to a few seconds to say how long it took; an end may be found by reads further apart: the minute
// matters.
const (
	closeReads     = 30 * time.Second
	closeToConfirm = 5 * time.Second
	closeToTheEnd  = 150 * time.Second
)

// entered records that an intent entered a state at a moment that is known.
func (i *Intent) entered(state api.IntentState, at time.Time) {
	i.Found = i.Found && state != i.State
	switch state {
	case api.AwaitingConfirmation:
		i.OfferedAt = at
	case api.PlacingOrder:
		i.ConfirmedAt = at
	case api.Completed, api.Failed:
		i.EndedAt = at
	}
}

// sawEnter records that an intent entered a state at a moment, exactly or up to within before it. It does not
// replace what an event reported, which is exact.
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
	i.Found = !state.Terminal() && !exact && min(within, at.Sub(i.CreatedAt)) > closeReads
}
