package account

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// mostUnread bounds the unread intents that observations add.
const mostUnread = 1000

// observed merges the answer to another client's request. Like an event, it moves the intent only forward, and the
// state is reported until a read verifies it. A reporter can name intents that do not exist: until a read or an
// event proves the intent, only the answer that created it counts, and never its end.
func (t *intents) observed(o *quota.Observation, who api.Text, now time.Time) outcome {
	id := api.ScrubID(o.IntentID)
	if id == "" || o.Status/100 != 2 || t.get(id) == nil && t.past.has(id) {
		return outcome{}
	}
	state, at := api.IntentState(api.Scrub(o.State)), utc(earlier(o.Sent, now))
	in, what := t.get(id), observedWhat(o)
	made := what == MadeElsewhere && o.Status == http.StatusCreated
	proven := in != nil && !in.unproven()
	if in == nil && !made && t.counts[""] >= mostUnread {
		return outcome{}
	}
	moves := state.Known() && (proven || made && !state.Terminal()) && (in == nil || state.Rank() > in.basis.floor && eventMoves(in, state, at))
	news := in == nil || moves
	if !news && (what == SeenElsewhere || in.remembersOf(what)) {
		return outcome{}
	}
	first := in == nil
	in = t.edit(id)
	in.basis.observed = in.basis.observed || first
	result := outcome{in: in, from: in.State}
	if made && in.CreatedAt.IsZero() && (in.basis.known.IsZero() || at.Before(in.basis.known)) {
		t.knownSince(in, at)
	}
	if in.ReferenceID == "" {
		in.ReferenceID = api.Scrub(o.Reference)
	}
	m := &Moment{What: what, Who: who, From: in.State, When: at, Learnt: utc(now)}
	if state.Known() && (proven || moves) {
		m.To = state
	}
	if moves {
		if in.State == api.AwaitingConfirmation {
			t.confirms.learn(in.Since, state, ByProxy, in.ReadAt, at, t.pace)
		}
		in.sawEnter(state, at, what != SeenElsewhere, at.Sub(later(in.ReadAt, in.Since)))
		t.moveTo(in, state, Reported, at)
		result.moved = true
	}
	in.remember(m)
	if in.Certainty != Verified {
		t.news.note(signal{intent: in.ID, hint: true, fresh: now.Sub(at) < longDelivered})
	}
	return result
}

// unproven reports whether only observations mention the intent.
func (i *IntentDetail) unproven() bool { return i.ReadAt.IsZero() && i.basis.lastEvent.IsZero() }

// observedWhat is what another client did with an intent.
func observedWhat(o *quota.Observation) What {
	switch {
	case o.Method != http.MethodPost:
		return SeenElsewhere
	case strings.HasSuffix(o.Endpoint, "/confirm"):
		return ConfirmedElsewhere
	}
	return MadeElsewhere
}

// remembersOf reports whether the timeline holds a moment of this kind.
func (i *IntentDetail) remembersOf(what What) bool {
	return slices.ContainsFunc(i.Timeline, func(m *Moment) bool { return m.What == what })
}
