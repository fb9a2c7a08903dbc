package confirm

import (
	"strings"

	"tillwatch/api"
)

// Stage is where a confirm stands.
type Stage string

// The stages, in order. Settling is passed only when the outcome of sending is
// not known.
const (
	Rereading Stage = "rereading"
	Recording Stage = "recording"
	Sending   Stage = "sending"
	Settling  Stage = "settling"
)

// Verdict is how a confirm ended.
type Verdict string

// The verdicts.
const (
	Accepted       Verdict = "accepted"        // the service took it
	Changed        Verdict = "changed"         // what was seen is no longer so; nothing was sent
	NotConfirmable Verdict = "not confirmable" // the intent does not await confirmation; this placed nothing
	Overtaken      Verdict = "overtaken"       // refused, yet the intent is being placed: by somebody else, or by this one doubled on its way
	Refused        Verdict = "refused"         // the service said no; nothing was placed
	Unknown        Verdict = "unknown"         // sent, and what came of it is not known yet
	NotSent        Verdict = "not sent"        // it could not be reread or recorded; nothing was sent
	NotTaken       Verdict = "not taken"       // in the audit log: it was sent, and long afterwards the intent still awaited confirmation
)

// Outcome tells how a confirm ended.
type Outcome struct {
	Verdict     Verdict
	Attempt     string       // of the audit log; "" when nothing was sent
	Intent      *api.Intent  // as last read; nil when it was not
	Differences []Difference // with Changed
	Err         error        // why, where there is a reason to tell
}

// String tells the outcome in one sentence.
func (o Outcome) String() string {
	switch o.Verdict {
	case Accepted:
		if o.Intent != nil && o.Intent.State != "" {
			return "confirmed: the intent is now " + words(o.Intent.State)
		}
		return "confirmed"
	case Changed:
		var parts []string
		for _, d := range o.Differences {
			parts = append(parts, d.What+" was "+d.Seen+", is "+d.Now)
		}
		return "not confirmed: the intent changed (" + strings.Join(parts, "; ") + ")"
	case NotConfirmable:
		if o.Intent != nil && o.Intent.State != api.AwaitingConfirmation {
			return "not confirmed: the intent is " + words(o.Intent.State)
		}
		return "not confirmed: the service says that it cannot be confirmed now" + because(o.Err)
	case Overtaken:
		return "already confirmed, by somebody else or by this request doubled on its way: the intent is " + words(o.Intent.State)
	case Unknown:
		return "outcome unknown: it may have been placed" + because(o.Err)
	}
	return "not confirmed" + because(o.Err)
}

func words(s api.IntentState) string { return strings.ReplaceAll(string(s), "_", " ") }

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
