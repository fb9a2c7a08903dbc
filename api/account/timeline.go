package account

import (
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// keepMoments bounds a timeline. The first moment and the newest ones are kept.
const keepMoments = 200

// remember puts a moment into its place in the timeline: by when it happened, of
// equal moments the earlier state first, and else as they became known. An event
// is remembered once.
func (r *intentRecord) remember(m Moment) {
	line := r.now.Timeline
	if m.EventID != "" && slices.ContainsFunc(line, func(o Moment) bool { return o.EventID == m.EventID }) {
		return
	}
	i := len(line)
	for i > 0 && m.precedes(line[i-1]) {
		i--
	}
	if i == len(line) && len(line) < keepMoments {
		r.now.Timeline = append(line, m)
		return
	}
	// What was published shares the array, so it is replaced, not shifted.
	line = slices.Insert(slices.Clone(line), i, m)
	if len(line) > keepMoments {
		line = slices.Delete(line, 1, 2)
	}
	r.now.Timeline = line
}

func (m Moment) precedes(o Moment) bool {
	if !m.At.Equal(o.At) {
		return m.At.Before(o.At)
	}
	return m.State != "" && o.State != "" && m.State.Rank() < o.State.Rank()
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
	return "event of an unknown type: " + string(api.Scrub(string(t)))
}

func lateWords(late bool, known api.IntentState) string {
	if late {
		return ", told late: already " + stateWords(known)
	}
	return ", already " + stateWords(known)
}

func readWords(in *api.Intent, how Learnt) string {
	var b strings.Builder
	if how == ByConfirm {
		b.WriteString("confirm accepted: ")
	} else {
		b.WriteString("read: ")
	}
	b.WriteString(stateWords(in.State))
	if in.Failure != nil && in.Failure.Code != "" {
		b.WriteString(", ")
		b.WriteString(words(string(in.Failure.Code)))
	} else if total, ok := in.Total(); ok {
		b.WriteString(", ")
		b.WriteString(total.String())
	}
	return b.String()
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
