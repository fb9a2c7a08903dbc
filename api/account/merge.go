package account

import (
	"time"

	"tillwatch/api"
)

// ApplyRead merges the answer to a read of an intent that was sent at sent. With
// [ByConfirm] it is the answer to a confirm.
//
// Reads are ordered by when they were sent: one that was sent before another
// that is merged already changes nothing. States move forward alone.
func (s *Store) ApplyRead(in api.Intent, sent time.Time, how Learnt) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	if how != ByConfirm {
		s.reads.Total++
		s.lastRead = now
	}
	s.applyRead(&in, sent, now, how)
}

// ApplyList is [Store.ApplyRead] for a page of a list of intents, which is one
// read.
func (s *Store) ApplyList(page []api.Intent, sent time.Time) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	s.reads.Total++
	s.lastRead = now
	for _, in := range page {
		s.applyRead(&in, sent, now, ByRead)
	}
}

func (s *Store) applyRead(in *api.Intent, sent, now time.Time, how Learnt) {
	r := s.intent(in.ID)
	r.now.Reads++
	if sent.Before(r.newest) {
		// How long a request waits before it goes out is not known here, so this
		// one may be the newer of the two after all.
		s.touch(r)
		s.notice(notice{intent: in.ID, again: in.State != r.now.State})
		return
	}
	r.newest, r.missing, r.now.Missing = sent, 0, false
	r.reads++
	s.mergeRead(r, in, sent, now, how)
	s.touch(r)
	s.judgeIntent(r, now)
}

// ApplyMissing notes that a read that was sent at sent was answered 404: the
// intent stays, as one that is not found in this environment.
func (s *Store) ApplyMissing(id api.ID, sent time.Time) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	s.reads.Total++
	s.lastRead = now
	r := s.intent(id)
	if sent.Before(r.newest) {
		return
	}
	r.newest = sent
	r.missing++
	if !r.now.Missing {
		r.now.Missing = true
		r.remember(Moment{At: sent, Learnt: now, How: ByRead, Text: "read: not found in this environment"})
	}
	s.touch(r)
}

// verdict is what a read's state means for the state that is known.
type verdict uint8

const (
	stays   verdict = iota // it says what is known
	settles                // it says what was only reported, or decides between two ends
	moves                  // it is news
	lags                   // it is behind what is known
)

// judgeRead weighs the state of a read against what is known. A state that the
// contract does not list is taken as it came, unless the end is known.
func judgeRead(known api.IntentState, certainty Certainty, floor int, read api.IntentState) verdict {
	switch {
	case read == "":
		return lags
	case read == known && certainty == Verified:
		return stays
	case read == known:
		return settles
	case !read.Known() && known.Terminal():
		return lags
	case !read.Known():
		return moves
	case read.Rank() < floor:
		return lags
	}
	return moves
}

func (s *Store) mergeRead(r *intentRecord, in *api.Intent, sent, now time.Time, how Learnt) {
	before, last := r.now.State, r.now.ReadAt
	judged := judgeRead(before, r.now.Certainty, r.floor, in.State)
	told := s.takeFields(r, in, sent, judged)

	switch judged {
	case lags:
		r.behind++
		s.reads.Behind++
		return
	case moves:
		s.expectEvent(r, before, in, now)
		s.noteConfirm(r, in.State, how, last, sent)
		s.moveTo(r, in.State, Verified, enteredBy(in, sent))
		told = true
	case settles:
		r.now.Certainty = Verified
		told = true
	}
	r.behind = 0
	if told || how == ByConfirm {
		r.remember(Moment{At: sent, Learnt: now, How: how, State: in.State, Text: readWords(in, how)})
	}
	s.refreshExpiry(r)
}

// enteredBy is the best known moment at which a read's state was entered.
func enteredBy(in *api.Intent, sent time.Time) time.Time {
	if in.State == api.RetrievingOffer && !in.CreatedAt.IsZero() {
		return in.CreatedAt
	}
	return sent
}

// takeFields takes over what a read tells beside the state. It reports whether a
// person would want to know.
func (s *Store) takeFields(r *intentRecord, in *api.Intent, sent time.Time, judged verdict) bool {
	if judged == lags && r.now.Latest != nil && r.now.Latest.State.Rank() > in.State.Rank() {
		return false
	}
	before := r.now.Latest
	r.now.Latest, r.now.ReadAt = in, sent
	r.now.Quantity, r.now.ReferenceID, r.now.Failure = in.Quantity, in.ReferenceID, in.Failure
	if !in.CreatedAt.IsZero() {
		r.now.CreatedAt = in.CreatedAt
		s.knownSince(r, in.CreatedAt)
	}
	if before == nil || before.ProductURL != in.ProductURL || (before.Offer == nil) != (in.Offer == nil) {
		s.takeNames(r, in)
	}
	total, ok := in.Total()
	if !ok || (r.now.Total != nil && *r.now.Total == total) {
		return false
	}
	r.now.Total = &total
	return true
}

func (s *Store) takeNames(r *intentRecord, in *api.Intent) {
	if merchant := in.Merchant(); merchant != "" {
		r.now.Merchant = merchant
	}
	if name := in.ProductName(); name != "" && name != r.now.Product {
		r.now.Product = name
		s.spreadProduct(r)
	}
}

// moveTo enters a state.
func (s *Store) moveTo(r *intentRecord, state api.IntentState, certainty Certainty, since time.Time) {
	s.intentCounts[countedAs(r.now.State)]--
	s.intentCounts[countedAs(state)]++
	if !r.now.Since.IsZero() {
		s.recordStay(r.now.State, since.Sub(r.now.Since))
	}
	s.reads.StateChanges++
	r.now.State, r.now.Certainty, r.now.Since = state, certainty, since
	r.floor = max(r.floor, state.Rank())
	r.reads = 0
	if certainty == Verified {
		r.reads = 1
	}
	s.refreshExpiry(r)
}

// refreshExpiry keeps the end of the confirm window: it runs from the creation,
// while the intent may still be confirmed.
func (s *Store) refreshExpiry(r *intentRecord) {
	r.now.ExpiresAt = time.Time{}
	if r.now.CreatedAt.IsZero() {
		return
	}
	if r.now.State == api.AwaitingConfirmation || r.now.State == api.RetrievingOffer {
		r.now.ExpiresAt = r.now.CreatedAt.Add(s.cfg.ConfirmWindow)
	}
}

// knownSince counts the intent in its day: by its creation once that is known,
// and until then by the first that was heard of it.
func (s *Store) knownSince(r *intentRecord, t time.Time) {
	if t.IsZero() || t.Equal(r.known) {
		return
	}
	if !r.known.IsZero() {
		s.day.remove(r.known)
	}
	r.known = t
	s.day.add(t)
}

// mergeEvent merges an event of an intent. An event alone moves the intent only
// to the state that its type proves, and only forward; whatever else it says is
// for a read to find out.
func (s *Store) mergeEvent(r *intentRecord, e *Event, now time.Time) {
	at := e.CreatedAt
	if at.IsZero() {
		at = e.Received
	}
	late := at.Before(r.lastEvent)
	if !late {
		r.lastEvent = at
	}
	if r.now.CreatedAt.IsZero() && (r.known.IsZero() || at.Before(r.known)) {
		s.knownSince(r, at)
	}
	r.seen |= eventBit(e.Type)
	s.eventArrived(r, e.Type)

	state, proves := e.Type.ProvenState()
	m := Moment{At: at, Learnt: now, How: ByEvent, State: state, EventID: e.ID, Text: eventWords(e.Type)}
	switch {
	case !proves:
	case s.eventMoves(r, state, at):
		s.noteConfirm(r, state, ByEvent, r.now.ReadAt, at)
		s.moveTo(r, state, Reported, at)
	case state == r.now.State:
		if at.Before(r.now.Since) {
			r.now.Since = at
		}
	case r.now.State.Known():
		m.Text += lateWords(late, r.now.State)
	}
	r.floor = max(r.floor, state.Rank())
	r.remember(m)
	s.touch(r)
	if proves && r.now.Certainty != Verified || e.Type == api.OfferFailed && r.now.Open() {
		s.notice(notice{intent: r.now.ID, hint: true, fresh: s.isFresh(e)})
	}
	s.judgeIntent(r, now)
}

// longDelivered is how long after its creation an event no longer tells what has
// just happened.
const longDelivered = 5 * time.Minute

// isFresh reports whether an event tells what has just happened, and not what
// the journal or the service still held.
func (s *Store) isFresh(e *Event) bool {
	return s.feed.State == FeedLive && e.Origin != "backfill" && e.Origin != "replay" &&
		(e.CreatedAt.IsZero() || e.Received.Sub(e.CreatedAt) < longDelivered)
}

// eventMoves reports whether an event that proves state moves the intent. From a
// state that the contract does not list it does so only when it came after the
// read that showed it, or when it proves the end.
func (s *Store) eventMoves(r *intentRecord, state api.IntentState, at time.Time) bool {
	if state.Rank() <= r.floor {
		return false
	}
	odd := r.now.State != "" && !r.now.State.Known()
	return !odd || state.Terminal() || at.After(r.now.Since)
}
