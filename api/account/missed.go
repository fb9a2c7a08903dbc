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

// expectEvent notes that a read found a move of which an event should tell.
// Creation, confirm and expiry have none, and of what happened before the intent
// became known nothing is expected, unless it was created since the feed is heard.
func (s *Store) expectEvent(r *intentRecord, from api.IntentState, in *api.Intent, now time.Time) {
	before := from == "" && (s.heard.IsZero() || in.CreatedAt.Before(s.heard))
	if s.feed.State == FeedOff || before || !s.hasEvent(r, from, in, now) {
		return
	}
	r.outstanding = true
	s.expected[r] = append(s.expected[r], expectation{state: in.State, learnt: now})
	s.expecting[r] = struct{}{}
}

func (s *Store) hasEvent(r *intentRecord, from api.IntentState, in *api.Intent, now time.Time) bool {
	switch in.State {
	case api.AwaitingConfirmation:
		return (from == api.RetrievingOffer || from == "") && r.seen&sawOfferRetrieved == 0
	case api.Completed:
		return r.seen&sawCompleted == 0
	case api.Failed:
		if r.seen&(sawOfferFailed|sawOrderFailed) != 0 {
			return false
		}
		expired := in.Failure != nil && in.Failure.Code == codeExpired
		expiry := s.expiresAt(r)
		overdue := (from == api.AwaitingConfirmation || from == "") && !expiry.IsZero() && !now.Before(expiry)
		return !expired && !overdue
	}
	return false
}

// eventArrived settles what was expected.
func (s *Store) eventArrived(r *intentRecord, t api.EventType) {
	state, proves := t.ProvenState()
	if t == api.OfferFailed {
		state, proves = api.Failed, true
	}
	if !proves {
		return
	}
	expected := s.expected[r]
	kept := expected[:0]
	for _, e := range expected {
		if e.state != state {
			kept = append(kept, e)
		} else if e.counted {
			s.counters.Missed--
		}
	}
	s.expected[r] = kept
	if len(kept) == 0 {
		r.outstanding = false
		delete(s.expected, r)
		delete(s.expecting, r)
	}
}

// countMissed counts the events that are overdue although the feed has been live
// for long enough to bring them. One that comes after all is taken back.
func (s *Store) countMissed(now time.Time) {
	if s.feed.State != FeedLive || now.Sub(s.feed.Since) < s.cfg.MissedAfter {
		return
	}
	for r := range s.expecting {
		waiting := false
		expected := s.expected[r]
		for i := range expected {
			e := &expected[i]
			if e.counted {
				continue
			}
			if now.Sub(e.learnt) < s.cfg.MissedAfter {
				waiting = true
				continue
			}
			e.counted = true
			s.counters.Missed++
			s.alerts.silence.add(s.lastEvent)
			s.remember(r, Moment{What: EventMissed, To: e.state, When: utc(now), Learnt: utc(now)})
			s.touch(r)
		}
		if !waiting {
			delete(s.expecting, r)
		}
	}
	s.countMissedParcels(now)
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
