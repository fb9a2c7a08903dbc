package account

import (
	"time"

	"tillwatch/api"
)

// expectation is a state that a read found and of which an event should tell.
type expectation struct {
	state   api.IntentState
	learnt  time.Time
	counted bool
}

// The failure code of an intent that was not confirmed in its window, as public
// clients have seen it. No event tells of it.
const codeExpired api.FailureCode = "checkout_intent_expired"

// missingEvents are those that are still to come, by what reads found. They count as
// missed once they are overdue.
type missingEvents struct {
	intents   map[api.ID][]expectation
	shipments map[api.ID]*shipmentDebt
	silence   silence
}

func newMissing() missingEvents {
	return missingEvents{intents: map[api.ID][]expectation{}, shipments: map[api.ID]*shipmentDebt{}}
}

// expectEvent notes that a read found a move of which an event should tell.
// Creation, confirm and expiry have none, and of what happened before the intent
// became known nothing is expected, unless it was created since the feed is heard.
func (s *Store) expectEvent(in *IntentDetail, from api.IntentState, read *api.Intent, now time.Time) {
	before := from == "" && s.feed.unheard(read.CreatedAt)
	if s.feed.State == FeedOff || before || !in.hasEvent(from, read, now) {
		return
	}
	s.missing.intents[in.ID] = append(s.missing.intents[in.ID], expectation{state: read.State, learnt: now})
}

func (i *IntentDetail) hasEvent(from api.IntentState, read *api.Intent, now time.Time) bool {
	seen := i.basis.seen
	switch read.State {
	case api.AwaitingConfirmation:
		return (from == api.RetrievingOffer || from == "") && seen&sawOfferRetrieved == 0
	case api.Completed:
		return seen&sawCompleted == 0
	case api.Failed:
		if seen&(sawOfferFailed|sawOrderFailed) != 0 {
			return false
		}
		expired := read.Failure != nil && read.Failure.Code == codeExpired
		overdue := (from == api.AwaitingConfirmation || from == "") && !i.ExpiresAt.IsZero() && !now.Before(i.ExpiresAt)
		return !expired && !overdue
	}
	return false
}

// eventArrived settles what was expected.
func (s *Store) eventArrived(in *IntentDetail, t api.EventType) {
	state, proves := t.ProvenState()
	if t == api.OfferFailed {
		state, proves = api.Failed, true
	}
	expected := s.missing.intents[in.ID]
	if !proves || len(expected) == 0 {
		return
	}
	kept := expected[:0]
	for _, e := range expected {
		if e.state != state {
			kept = append(kept, e)
		} else if e.counted {
			s.counters.Missed--
		}
	}
	if s.missing.intents[in.ID] = kept; len(kept) == 0 {
		delete(s.missing.intents, in.ID)
	}
}

// countMissed counts the events that are overdue although the feed has been live
// for long enough to bring them. One that comes after all is taken back.
func (s *Store) countMissed(now time.Time) {
	if s.feed.State != FeedLive || now.Sub(s.feed.Since) < s.cfg.MissedAfter {
		return
	}
	for id, expected := range s.missing.intents {
		for i := range expected {
			e := &expected[i]
			if e.counted || now.Sub(e.learnt) < s.cfg.MissedAfter {
				continue
			}
			e.counted = true
			s.counters.Missed++
			s.missing.silence.add(s.lastEvent)
			s.remember(s.editIntent(id), Moment{What: EventMissed, To: e.state, When: utc(now), Learnt: utc(now)})
		}
	}
	s.countMissedShipments(now)
}

// silence counts the changes that no event told of since the last event.
type silence struct {
	after time.Time // the event
	count int
}

func (s *silence) add(lastEvent time.Time) {
	s.count = s.lasts(lastEvent) + 1
	s.after = lastEvent
}

func (s *silence) lasts(lastEvent time.Time) int {
	if !s.after.Equal(lastEvent) {
		return 0
	}
	return s.count
}
