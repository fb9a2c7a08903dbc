package account

import (
	"cmp"
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
// read. It reports whether the page names an intent that was not known.
func (s *Store) ApplyList(page []api.Intent, sent time.Time) (news bool) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	s.reads.Total++
	s.lastRead = now
	for i := range page {
		in := &page[i]
		switch known := s.intents.get(in.ID) != nil; {
		case !known && in.State.Terminal() && s.intents.past.has(in.ID):
			continue // it was let go, as one of those that ended long ago
		case !known:
			news = true
		}
		s.applyRead(in, sent, now, ByRead)
	}
	return news
}

func (s *Store) applyRead(read *api.Intent, sent, now time.Time, how Learnt) {
	in := s.editIntent(read.ID)
	b := &in.basis
	in.Reads++
	if sent.Before(b.newest) {
		// How long a request waits before it goes out is not known here, so this
		// one may be the newer of the two after all.
		if how == ByRead {
			s.foldRead(in, sent, now)
		}
		s.notice(notice{intent: in.ID, again: read.State != in.State})
		return
	}
	b.newest, b.missing, in.Missing = sent, 0, false
	b.reads++
	s.mergeRead(in, read, sent, now, how)
	s.alerts.judgeIntent(in, now)
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
	in := s.editIntent(id)
	if sent.Before(in.basis.newest) {
		return
	}
	in.basis.newest = sent
	in.basis.missing++
	if !in.Missing {
		in.Missing = true
		s.remember(in, Moment{What: NotFound, When: utc(sent), Learnt: utc(now)})
		s.intents.ended.note(in)
	}
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

func (s *Store) mergeRead(in *IntentDetail, read *api.Intent, sent, now time.Time, how Learnt) {
	before, last := in.State, in.ReadAt
	judged := judgeRead(before, in.Certainty, in.basis.floor, read.State)
	told := s.takeFields(in, read, sent, judged)

	switch judged {
	case lags:
		in.basis.behind++
		s.reads.Behind++
		if how == ByRead {
			s.foldRead(in, sent, now)
		}
		return
	case moves:
		s.expectEvent(in, before, read, now)
		if in.State == api.AwaitingConfirmation {
			s.noteConfirm(in, read.State, how, last, sent)
		}
		s.moveTo(in, read.State, Verified, utc(s.enteredBy(in, read, sent)))
		told = true
	case settles:
		in.Certainty = Verified
		told = true
	}
	in.basis.behind = 0
	if told || how == ByConfirm {
		s.remember(in, readMoment(read, in.Total, how, before, sent, now))
	} else {
		s.foldRead(in, sent, now)
	}
}

// enteredBy is the best known moment at which a read's state was entered: an
// intent that has failed long ago is not as young as the read that tells of it.
func (s *Store) enteredBy(in *IntentDetail, read *api.Intent, sent time.Time) time.Time {
	var entered time.Time
	created, seen := plausible(read.CreatedAt), in.basis.seen
	switch {
	case read.State == api.RetrievingOffer:
		entered = created
	case read.State == api.Failed && read.Failure != nil && read.Failure.Code == codeExpired && !created.IsZero():
		entered = created.Add(s.cfg.ConfirmWindow)
	case read.State == api.Failed && seen&(sawOfferFailed|sawOrderFailed) != 0 && seen&sawCompleted == 0:
		entered = in.basis.lastEvent
	}
	if entered.IsZero() || entered.After(sent) {
		return sent
	}
	return entered
}

// takeFields takes over what a read tells beside the state. It reports whether a
// person would want to know.
func (s *Store) takeFields(in *IntentDetail, read *api.Intent, sent time.Time, judged verdict) bool {
	b, rank := &in.basis, read.State.Rank()
	if judged == lags && b.readRank > rank {
		return false
	}
	in.ReadAt, b.readRank, b.ordered = sent, rank, len(read.OrderIDs) > 0
	in.Latest, in.Quantity, in.ReferenceID, in.Failure = lean(read), read.Quantity, read.ReferenceID, read.Failure
	whole := *read
	s.intents.whole.put(&whole)
	if created := plausible(read.CreatedAt); !created.IsZero() {
		in.CreatedAt = created
		s.intents.setExpiry(in)
		s.knownSince(in, created)
	}
	in.Merchant = cmp.Or(read.Merchant(), in.Merchant)
	if name := read.ProductName(); name != "" && name != in.Product {
		in.Product = name
		s.spreadProduct(in)
	}
	total, ok := read.Total()
	if !ok || in.Total != nil && *in.Total == total {
		return false
	}
	in.Total = &total
	return true
}

// moveTo enters a state.
func (s *Store) moveTo(in *IntentDetail, state api.IntentState, certainty Certainty, since time.Time) {
	if !in.Since.IsZero() {
		s.pace.recordStay(in.State, since.Sub(in.Since))
	}
	s.reads.StateChanges++
	in.Certainty, in.Since = certainty, since
	in.basis.floor = max(in.basis.floor, state.Rank())
	in.basis.reads = 0
	if certainty == Verified {
		in.basis.reads = 1
	}
	s.intents.enter(in, state)
	s.intents.ended.note(in)
}

// knownSince counts the intent in its day: by its creation once that is known,
// and until then by the first that was heard of it.
func (s *Store) knownSince(in *IntentDetail, t time.Time) {
	if before := in.basis.known; !t.IsZero() && !t.Equal(before) {
		if !before.IsZero() {
			s.day.remove(before)
		}
		in.basis.known = t
		s.day.add(t)
	}
}

// mergeEvent merges an event of an intent. An event alone moves the intent only
// to the state that its type proves, and only forward; whatever else it says is
// for a read to find out.
func (s *Store) mergeEvent(in *IntentDetail, e *Event, now time.Time) {
	at, b := cmp.Or(e.CreatedAt, e.Received), &in.basis
	late := at.Before(b.lastEvent)
	b.lastEvent = later(b.lastEvent, at)
	if in.CreatedAt.IsZero() && (b.known.IsZero() || at.Before(b.known)) {
		s.knownSince(in, at)
	}
	b.seen |= eventBit(e.Type)
	s.eventArrived(in, e.Type)

	state, proves := e.Type.ProvenState()
	m := Moment{What: EventTold, To: state, When: at, Learnt: utc(now), EventID: e.ID, Type: e.Type, Late: late}
	switch {
	case e.Type == api.OfferFailed && in.State == api.Failed:
		in.Since = earlier(in.Since, at)
	case !proves:
	case eventMoves(in, state, at):
		if in.State == api.AwaitingConfirmation {
			s.noteConfirm(in, state, ByEvent, in.ReadAt, at)
		}
		m.From = in.State
		s.moveTo(in, state, Reported, at)
	case in.State == state:
		in.Since = earlier(in.Since, at)
	default:
		m.From = in.State
	}
	b.floor = max(b.floor, state.Rank())
	e.lined = true
	s.remember(in, m)
	if proves && in.Certainty != Verified || e.Type == api.OfferFailed && in.Open() {
		s.notice(notice{intent: in.ID, hint: true, fresh: s.isFresh(e)})
	}
	s.alerts.judgeIntent(in, now)
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
func eventMoves(in *IntentDetail, state api.IntentState, at time.Time) bool {
	if state.Rank() <= in.basis.floor {
		return false
	}
	odd := in.State != "" && !in.State.Known()
	return !odd || state.Terminal() || at.After(in.Since)
}
