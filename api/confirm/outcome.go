package confirm

import (
	"time"

	"tillwatch/api"
)

// Stage is where a confirm stands.
type Stage string

// The stages, in order. Settling is passed only when the answer does not tell
// what came of what was sent.
const (
	Rereading Stage = "rereading"
	Recording Stage = "recording"
	Sending   Stage = "sending"
	Settling  Stage = "settling"
	Lost      Stage = "lost" // in the audit log alone: lines before this one are missing
)

// Progress is where a confirm stands, for the eye.
type Progress struct {
	Stage Stage
	Why   error     // with Settling: what was answered, or why nothing was
	Until time.Time // with Settling: when it ends, unless a read settles it earlier
}

// Verdict is how a confirm ended.
type Verdict string

// The verdicts. [Outcome.Proves] says what each proves.
const (
	Accepted       Verdict = "accepted"          // the service took it
	Changed        Verdict = "changed"           // what was seen is no longer so; nothing was sent
	NotConfirmable Verdict = "not confirmable"   // the intent cannot be confirmed; this placed nothing
	Already        Verdict = "already confirmed" // before anything was sent, an order was placed or being placed
	Overtaken      Verdict = "overtaken"         // refused, yet the intent is being placed: by somebody else, or by this one doubled on its way
	Refused        Verdict = "refused"           // the service said no; nothing was placed
	Unknown        Verdict = "unknown"           // sent, and what came of it is not known yet
	NotSent        Verdict = "not sent"          // it could not be reread or recorded; nothing was sent
	Closed         Verdict = "closed by hand"    // in the audit log: nobody will know what came of it
	NotTaken       Verdict = "not taken"         // in the audit log: it was sent, and long afterwards the intent still awaited confirmation
)

// Outcome is how a confirm ended.
type Outcome struct {
	Verdict     Verdict
	Attempt     string       // of the audit log; "" when nothing was sent
	Intent      *api.Intent  // as last read; nil when it was not
	Differences []Difference // with Changed
	Err         error        // why, where there is a reason to tell

	// Unsettled: nothing was sent this time, and what came of an earlier confirm of
	// the intent is not known.
	Unsettled bool
}

// Purchase is what is proven of the intent's order.
type Purchase uint8

// What can be proven. An order that failed is none.
const (
	Unproven  Purchase = iota // there may be an order, or may be one yet
	Placed                    // there is one, or it is being placed
	NotPlaced                 // there is none, and of what was sent none can come
)

// Proves says what the outcome proves of the intent's order. That nothing was
// placed takes a state that says so, or that nothing was ever sent that could have
// placed it; the service's no to what was sent is no proof by itself.
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
