package account

import (
	"cmp"
	"math"
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
	known := s.intentBlocks.last
	for _, in := range page {
		s.applyRead(&in, sent, now, ByRead)
	}
	return s.intentBlocks.last > known
}

func (s *Store) applyRead(in *api.Intent, sent, now time.Time, how Learnt) {
	r := s.intent(in.ID)
	r.answers++
	if s.clock.instant(sent) < r.newest {
		// How long a request waits before it goes out is not known here, so this
		// one may be the newer of the two after all.
		if how == ByRead {
			s.foldRead(r, sent, now)
		}
		s.touch(r)
		s.notice(notice{intent: r, again: in.State != r.state})
		return
	}
	r.newest, r.missing, r.gone = s.clock.instant(sent), 0, false
	r.reads = min(r.reads, math.MaxUint16-1) + 1
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
	at := s.clock.instant(sent)
	if at < r.newest {
		return
	}
	r.newest = at
	r.missing = min(r.missing+1, mostInARow)
	if !r.gone {
		r.gone = true
		s.remember(r, Moment{What: NotFound, When: utc(sent), Learnt: utc(now)})
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
	before, last := r.state, s.clock.measured(r.readAt)
	judged := judgeRead(before, r.certainty, int(r.floor), in.State)
	told := s.takeFields(r, in, sent, judged)

	switch judged {
	case lags:
		r.behind = min(r.behind+1, mostInARow)
		s.reads.Behind++
		if how == ByRead {
			s.foldRead(r, sent, now)
		}
		return
	case moves:
		s.expectEvent(r, before, in, now)
		if r.state == api.AwaitingConfirmation {
			s.noteConfirm(r, in.State, how, last, sent)
		}
		s.moveTo(r, in.State, Verified, s.clock.instant(s.enteredBy(r, in, sent)))
		told = true
	case settles:
		r.certainty = Verified
		told = true
	}
	r.behind = 0
	if told || how == ByConfirm {
		s.remember(r, readMoment(r, in, how, before, sent, now))
	} else {
		s.foldRead(r, sent, now)
	}
}

// enteredBy is the best known moment at which a read's state was entered: an
// intent that has failed long ago is not as young as the read that tells of it.
func (s *Store) enteredBy(r *intentRecord, in *api.Intent, sent time.Time) time.Time {
	var entered time.Time
	switch {
	case in.State == api.RetrievingOffer:
		entered = in.CreatedAt
	case in.State == api.Failed && in.Failure != nil && in.Failure.Code == codeExpired && !in.CreatedAt.IsZero():
		entered = in.CreatedAt.Add(s.cfg.ConfirmWindow)
	case in.State == api.Failed && r.seen&(sawOfferFailed|sawOrderFailed) != 0 && r.seen&sawCompleted == 0:
		entered = r.lastEvent.time()
	}
	if entered.IsZero() || entered.After(sent) {
		return sent
	}
	return entered
}

// mostInARow bounds what is counted in a row.
const mostInARow = math.MaxUint8

// takeFields takes over what a read tells beside the state. It reports whether a
// person would want to know.
func (s *Store) takeFields(r *intentRecord, in *api.Intent, sent time.Time, judged verdict) bool {
	rank := int8(in.State.Rank())
	if judged == lags && r.readRank > rank {
		return false
	}
	first := r.readAt == 0
	r.readAt, r.readRank, r.ordered = s.clock.instant(sent), rank, len(in.OrderIDs) > 0
	r.answer = in
	s.answers.put(r, len(in.Raw))
	if created := s.clock.instant(in.CreatedAt); created != 0 {
		r.created = created
		s.knownSince(r, minuteOf(created))
	}
	if asked := askedFor(in); first || asked != r.asked {
		r.asked = asked
		s.takeNames(r, in)
	}
	total, ok := in.Total()
	if !ok {
		return false
	}
	if r.total != nil && *r.total == total {
		return false
	}
	r.total = &total
	return true
}

// asked is what a read names the product by: its URL, and its title where there is
// an offer.
type asked struct {
	url     api.Text
	offered bool
}

func askedFor(in *api.Intent) asked { return asked{in.ProductURL, in.Offer != nil} }

func (s *Store) takeNames(r *intentRecord, in *api.Intent) {
	if merchant := in.Merchant(); merchant != "" {
		r.merchant = merchant
	}
	if name := in.ProductName(); name != "" && name != r.product {
		r.product = name
		s.spreadProduct(r)
	}
}

// moveTo enters a state.
func (s *Store) moveTo(r *intentRecord, state api.IntentState, certainty Certainty, since instant) {
	if r.since != 0 {
		s.recordStay(r.state, time.Duration(since-r.since))
	}
	s.reads.StateChanges++
	s.setState(r, state)
	r.certainty, r.since = certainty, since
	r.floor = max(r.floor, int8(state.Rank()))
	r.reads = 0
	if certainty == Verified {
		r.reads = 1
	}
}

// knownSince counts the intent in its day: by its creation once that is known,
// and until then by the first that was heard of it.
func (s *Store) knownSince(r *intentRecord, t minute) {
	if t == 0 || t == r.known {
		return
	}
	if r.known != 0 {
		s.day.remove(r.known)
	}
	r.known = t
	s.day.add(t)
}

// mergeEvent merges an event of an intent. An event alone moves the intent only
// to the state that its type proves, and only forward; whatever else it says is
// for a read to find out.
func (s *Store) mergeEvent(r *intentRecord, e *eventRecord, now time.Time) {
	at := cmp.Or(e.created, e.received)
	late := at < r.lastEvent
	if !late {
		r.lastEvent = at
	}
	if minute := minuteOf(at); r.created == 0 && (r.known == 0 || minute < r.known) {
		s.knownSince(r, minute)
	}
	r.seen |= eventBit(e.kind)
	if r.outstanding {
		s.eventArrived(r, e.kind)
	}

	state, proves := e.kind.ProvenState()
	m := Moment{What: EventTold, To: state, EventID: e.id, Type: e.kind, When: at.time(), Learnt: utc(now), Late: late}
	switch {
	case e.kind == api.OfferFailed && r.state == api.Failed:
		r.since = min(r.since, at)
	case !proves:
	case s.eventMoves(r, state, at):
		if r.state == api.AwaitingConfirmation {
			s.noteConfirm(r, state, ByEvent, s.clock.measured(r.readAt), at.time())
		}
		m.From = r.state
		s.moveTo(r, state, Reported, at)
	case r.state == state:
		r.since = min(r.since, at)
	default:
		m.From = r.state
	}
	r.floor = max(r.floor, int8(state.Rank()))
	e.lined = true
	s.remember(r, m)
	s.touch(r)
	if proves && r.certainty != Verified || e.kind == api.OfferFailed && r.open() {
		s.notice(notice{intent: r, hint: true, fresh: s.isFresh(e)})
	}
	s.judgeIntent(r, now)
}

// longDelivered is how long after its creation an event no longer tells what has
// just happened.
const longDelivered = 5 * time.Minute

// isFresh reports whether an event tells what has just happened, and not what
// the journal or the service still held.
func (s *Store) isFresh(e *eventRecord) bool {
	return s.feed.State == FeedLive && e.origin != "backfill" && e.origin != "replay" &&
		(e.created == 0 || time.Duration(e.received-e.created) < longDelivered)
}

// eventMoves reports whether an event that proves state moves the intent. From a
// state that the contract does not list it does so only when it came after the
// read that showed it, or when it proves the end.
func (s *Store) eventMoves(r *intentRecord, state api.IntentState, at instant) bool {
	if state.Rank() <= int(r.floor) {
		return false
	}
	odd := r.state != "" && !r.state.Known()
	return !odd || state.Terminal() || at > r.since
}
