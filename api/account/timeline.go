package account

import (
	"strings"
	"time"

	"tillwatch/api"
)

// keepMoments bounds a timeline. The first moment and the newest ones are kept.
const keepMoments = 200

// timeline lists what was remembered, oldest first.
func (s *Store) timeline(r *intentRecord) []Moment {
	line := make([]Moment, r.moments)
	at := r.line
	for i := len(line) - 1; i >= 0; i-- {
		kept := s.moments.at(at)
		m := kept.moment()
		line[i] = s.spell(r, &m)
		at = kept.earlier
	}
	return line
}

// remember puts a moment into its place in the timeline: by when it happened, of
// equal moments the earlier state first, and else as they became known. An event
// is remembered once.
func (s *Store) remember(r *intentRecord, m moment) {
	if m.kind.how() == ByEvent && s.forgetful && s.remembers(r, s.eventID(r, &m)) {
		return
	}
	number, kept := s.freeMoment()
	kept.put(&m)
	m = kept.moment()
	link := &r.line
	for *link != 0 {
		before := s.moments.at(*link)
		if o := before.moment(); !s.precedes(&m, &o) {
			break
		}
		link = &before.earlier
	}
	kept.earlier, *link = *link, number
	if r.moments++; r.moments > keepMoments {
		s.forgetSecond(r)
	}
}

// remembers reports whether the timeline holds an event.
func (s *Store) remembers(r *intentRecord, id api.ID) bool {
	for at := r.line; at != 0; {
		kept := s.moments.at(at)
		if o := kept.moment(); o.kind.how() == ByEvent && s.eventID(r, &o) == id {
			return true
		}
		at = kept.earlier
	}
	return false
}

func (s *Store) precedes(m, o *moment) bool {
	if m.at != o.at {
		return m.at < o.at
	}
	mine, other := s.stateAt(m), s.stateAt(o)
	return mine != "" && other != "" && mine.Rank() < other.Rank()
}

// forgetSecond gives up the second of the moments: the first tells how it began.
func (s *Store) forgetSecond(r *intentRecord) {
	link := &r.line
	for range r.moments - 2 {
		link = &s.moments.at(*link).earlier
	}
	number := *link
	gone := s.moments.at(number)
	*link = gone.earlier
	gone.earlier, s.spare = s.spare, number
	r.moments--
}

// freeMoment is room for a moment.
func (s *Store) freeMoment() (uint32, *keptMoment) {
	if s.spare == 0 {
		return s.moments.add()
	}
	number := s.spare
	m := s.moments.at(number)
	s.spare = m.earlier
	return number, m
}

func eventWords(t api.EventType) string {
	switch t {
	case api.OfferRetrieved:
		return "offer retrieved"
	case api.OfferFailed:
		return "offer failed"
	case api.IntentCompleted:
		return "completed"
	case api.OrderFailed:
		return "order failed"
	}
	return unknownEvent + string(api.Scrub(string(t)))
}

const unknownEvent = "event of an unknown type: "

const (
	alreadyWords = ", already "
	lateWords    = ", told late: already "
)

const (
	readWords    = "read: "
	confirmWords = "confirm accepted: "
)

// readDetail is what a read's words tell beside the state.
func readDetail(in *api.Intent) string {
	if in.Failure != nil && in.Failure.Code != "" {
		return words(string(in.Failure.Code))
	}
	if total, ok := in.Total(); ok {
		return total.String()
	}
	return ""
}

func stateWords(state api.IntentState) string {
	if state == "" {
		return "no state"
	}
	return words(string(state))
}

func words(code string) string {
	return strings.ReplaceAll(string(api.Scrub(code)), "_", " ")
}

// Stays is how long the intent was in each state that its timeline tells of, as
// far as it has left them.
func (i *IntentDetail) Stays() map[api.IntentState]time.Duration {
	stays := map[api.IntentState]time.Duration{}
	var state api.IntentState
	since := i.CreatedAt
	if !since.IsZero() {
		state = api.RetrievingOffer
	}
	for _, m := range i.Timeline {
		if m.State == "" || m.State == state || (m.State.Known() && m.State.Rank() < state.Rank()) {
			continue
		}
		if state != "" {
			stays[state] += max(0, m.At.Sub(since))
		}
		state, since = m.State, m.At
	}
	return stays
}
