package confirm

import (
	"time"

	"tillwatch/api"
)

// Stage is a step of a confirm.
type Stage string

// The stages, in order. Settling is skipped if the answer proves the outcome.
const (
	Rereading Stage = "rereading"
	Recording Stage = "recording"
	Sending   Stage = "sending"
	Pausing   Stage = "pausing" // after a refusal for the rate, until it may be sent again
	Settling  Stage = "settling"
	Answered  Stage = "answered" // only in the audit log: an answer came, or was lost, that proves nothing
	Lost      Stage = "lost"     // only in the audit log: lines before this one are missing
)

// Progress is the stage of a confirm, for display.
type Progress struct {
	Stage Stage
	At    time.Time // when the stage began
	Gone  bool      // with Sending: the request has left; before that it waits for quota
	Try   int       // with Sending and Pausing: which request it is, or will be
	Tries int       // with Sending and Pausing: how many there may be
	Why   error     // with Pausing: the refusal; with Settling: why the answer proves nothing
	By    time.Time // with Settling: when reads have settled it, unless they fail
	Until time.Time // with Sending: when it is given up; with Pausing: when it goes on; with Settling: when it ends even if reads fail
}

// BeforeWriting reports whether nothing is written down yet: until then, the yes can be taken back.
func (p Progress) BeforeWriting() bool {
	return (p.Stage == "" || p.Stage == Rereading || p.Stage == Recording) && p.Try <= 1
}

// Verdict is how a confirm ended.
type Verdict string

// The verdicts. [Outcome.Proves] says what each proves.
const (
	Accepted       Verdict = "accepted"          // the service took it
	Changed        Verdict = "changed"           // the intent is not as it was seen; nothing was sent
	NotConfirmable Verdict = "not confirmable"   // the intent cannot be confirmed; nothing was placed by this
	Already        Verdict = "already confirmed" // an order was placed or being placed before anything was sent
	Overtaken      Verdict = "overtaken"         // refused, yet the order is being placed: another client's confirm, or this one doubled on its way
	Refused        Verdict = "refused"           // the service said no; nothing was placed
	Unknown        Verdict = "unknown"           // sent, with an outcome that is not known yet
	NotSent        Verdict = "not sent"          // the intent could not be reread or the confirm not recorded; nothing was sent
	NeverKnown     Verdict = "never known"       // only in the audit log: the service no longer knows the intent
	Closed         Verdict = "closed by hand"    // only in the audit log: nobody will ever know the outcome
	NotTaken       Verdict = "not taken"         // sent, but long afterwards the intent still awaited confirmation; nothing was placed
)

// Outcome is how a confirm ended.
type Outcome struct {
	Verdict     Verdict
	Attempt     string       // the audit log's id of the attempt; "" if nothing was sent
	Intent      *api.Intent  // as last read; nil if it was not read
	Differences []Difference // with Changed: what differs; of an order that is placed: its total, if that differs
	Err         error        // the reason; nil for none

	// Unsettled: nothing was sent this time, and an earlier confirm of the intent has no known outcome.
	Unsettled bool
}

// Well reports whether the confirm was accepted at the total that was seen, and its order has not failed.
func (o Outcome) Well() bool {
	return o.Verdict == Accepted && o.Proves() == Placed && len(o.Differences) == 0
}

// Purchase is what is proven about the intent's order.
type Purchase uint8

// What can be proven. A failed order does not count as placed.
const (
	Unproven  Purchase = iota // there may be an order, now or later
	Placed                    // there is one, or it is being placed
	NotPlaced                 // there is none, and nothing sent can lead to one
)

// Proves returns what the outcome proves about the intent's order. [NotPlaced] takes a state that shows it, or
// that nothing was ever sent: a refusal alone proves nothing.
func (o Outcome) Proves() Purchase {
	switch {
	case o.Intent != nil && o.Intent.State == api.Failed:
		return NotPlaced
	case o.Unsettled || o.Verdict == Unknown:
		return Unproven
	}
	switch o.Verdict {
	case Accepted, Overtaken, Already:
		return Placed
	case NotConfirmable:
		if o.Intent != nil && !o.Intent.State.Known() {
			return Unproven
		}
	}
	return NotPlaced
}
