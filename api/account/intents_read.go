package account

import (
	"cmp"
	"time"

	"tillwatch/api"
)

// outcome is what a read changed of an intent, for the other parts of the picture.
type outcome struct {
	in    *IntentDetail
	from  api.IntentState // the state before
	moved bool            // to another
	named bool            // it has a new product name
}

// read merges the answer to a read or a confirm. A read that was sent before one that is already merged changes
// nothing. States only move forward.
func (t *intents) read(read *api.Intent, sent, now time.Time, how Learnt) outcome {
	in := t.edit(read.ID)
	o := outcome{in: in, from: in.State}
	in.Reads++
	if sent.Before(in.basis.newest) {
		// How long a request waited before it went out is unknown, so this may be the newer of the two.
		if how == ByRead {
			in.foldRead(sent, now)
		}
		t.news.note(signal{intent: in.ID, again: read.State != in.State})
		return o
	}
	in.basis.newest, in.basis.missing, in.Missing = sent, 0, false
	in.basis.reads++
	t.merge(&o, read, sent, now, how)
	t.noteEnd(in)
	return o
}

// notFound records that a read was answered 404: the intent stays, marked as missing. It goes if only observations
// mentioned it.
func (t *intents) notFound(id api.ID, sent, now time.Time) (gone *IntentDetail) {
	in := t.edit(id)
	if in.basis.observed && in.unproven() && len(in.Shipments) == 0 {
		if known := in.basis.known; !known.IsZero() {
			t.day.remove(known)
		}
		t.letGoOf(in)
		return in
	}
	if sent.Before(in.basis.newest) {
		return nil
	}
	in.basis.newest = sent
	in.basis.missing++
	if !in.Missing {
		in.Missing = true
		in.remember(&Moment{What: NotFound, When: utc(sent), Learnt: utc(now)})
		t.noteEnd(in)
	}
	return nil
}

// verdict is how a read's state relates to the known one.
type verdict uint8

const (
	stays   verdict = iota // it is the known state
	settles                // it verifies a reported state, or decides between two ends
	moves                  // it is new
	lags                   // it is older than what is known
)

// judgeRead compares a read's state with what is known. A state that the contract does not list is taken over,
// unless the end is known.
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

func (t *intents) merge(o *outcome, read *api.Intent, sent, now time.Time, how Learnt) {
	in, last := o.in, o.in.ReadAt
	judged := judgeRead(in.State, in.Certainty, in.basis.floor, read.State)
	news := t.takeFields(o, read, sent, judged)

	switch judged {
	case lags:
		in.basis.behind++
		t.reads.Behind++
		if how == ByRead {
			in.foldRead(sent, now)
		}
		return
	case moves:
		if in.State == api.AwaitingConfirmation {
			t.confirms.learn(in.Since, read.State, how, last, sent, t.pace)
		}
		entered := utc(t.enteredBy(in, read, sent))
		in.sawEnter(read.State, entered, how == ByConfirm || entered.Before(sent), sent.Sub(later(last, in.Since)))
		t.moveTo(in, read.State, Verified, entered)
		o.moved, news = true, true
	case settles:
		in.Certainty = Verified
		news = true
	}
	in.basis.behind = 0
	if news || how == ByConfirm {
		in.remember(readMoment(read, in.Total, how, o.from, sent, now))
	} else {
		in.foldRead(sent, now)
	}
}

// enteredBy estimates when a read's state was entered: an intent that failed long ago did not fail when it was
// read.
func (t *intents) enteredBy(in *IntentDetail, read *api.Intent, sent time.Time) time.Time {
	var entered time.Time
	created, seen := plausible(read.CreatedAt), in.basis.seen
	switch {
	case read.State == api.RetrievingOffer:
		entered = created
	case read.State == api.Failed && read.Failure != nil && read.Failure.Code == api.Expired && !created.IsZero():
		entered = created.Add(t.window)
	case read.State == api.Failed && seen&(sawOfferFailed|sawOrderFailed) != 0 && seen&sawCompleted == 0:
		entered = in.basis.lastEvent
	}
	if entered.IsZero() || entered.After(sent) {
		return sent
	}
	return entered
}

// takeFields takes over what a read shows besides the state. It reports whether a person would want to know.
func (t *intents) takeFields(o *outcome, read *api.Intent, sent time.Time, judged verdict) bool {
	in, rank := o.in, read.State.Rank()
	b := &in.basis
	if judged == lags && b.readRank > rank {
		return false
	}
	if in.ReadAt.IsZero() {
		t.unread--
	}
	in.ReadAt, b.readRank, b.ordered = sent, rank, len(read.OrderIDs) > 0
	in.Latest, in.Quantity, in.ReferenceID, in.Failure = lean(read), read.Quantity, read.ReferenceID, read.Failure
	in.Latest.ID = in.ID
	whole := *read
	t.whole.put(&whole)
	if created := plausible(read.CreatedAt); !created.IsZero() {
		in.CreatedAt = created
		t.setExpiry(in)
		t.knownSince(in, created)
	}
	in.Merchant = cmp.Or(read.Merchant(), in.Merchant)
	if name := read.ProductName(); name != "" && name != in.Product {
		in.Product, o.named = name, true
	}
	total, ok := read.Total()
	if !ok || in.Total != nil && *in.Total == total {
		return false
	}
	in.Total = &total
	return true
}

// moveTo enters a state.
func (t *intents) moveTo(in *IntentDetail, state api.IntentState, certainty Certainty, since time.Time) {
	if !in.Since.IsZero() {
		t.pace.recordStay(in.State, since.Sub(in.Since))
	}
	t.reads.StateChanges++
	in.Certainty, in.Since = certainty, since
	in.basis.floor = max(in.basis.floor, state.Rank())
	in.basis.reads = 0
	if certainty == Verified {
		in.basis.reads = 1
	}
	t.enter(in, state)
	t.noteEnd(in)
}

// knownSince counts the intent in its day: by its creation once known, until then by when it was first heard of.
func (t *intents) knownSince(in *IntentDetail, at time.Time) {
	if before := in.basis.known; !at.IsZero() && !at.Equal(before) {
		if !before.IsZero() {
			t.day.remove(before)
		}
		in.basis.known = at
		t.day.add(at)
	}
}
