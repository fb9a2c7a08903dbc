package confirm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// The wording of outcomes, for the command line, the dialogs and the audit log.

// Sentence says how the confirm ended and what that means for the order, without the reason. It begins in lower
// case and has no full stop.
func (o Outcome) Sentence() string {
	switch {
	case o.unlogged():
		return "nothing was sent: the audit log cannot be read, so earlier confirms are not known"
	case o.Unsettled:
		return "nothing was sent: the outcome of an earlier confirm is not known yet"
	}
	switch o.Verdict {
	case Accepted:
		switch {
		case o.state() == "":
			return "confirmed: the service accepted it"
		case o.Intent.State == api.Failed:
			return "confirmed, but the order failed"
		}
		return "confirmed: the intent is now " + o.state()
	case Changed:
		return "nothing was sent: the intent changed since you looked"
	case NotConfirmable:
		switch {
		case o.Intent == nil || o.Intent.State == api.AwaitingConfirmation:
			return "not confirmed: the service says that it cannot be confirmed now"
		case o.Intent.State == api.Failed:
			return "not confirmed: the intent has failed"
		case o.Intent.State == "":
			return "nothing was sent: the service does not say in which state the intent is"
		case !o.Intent.State.Known():
			return "nothing was sent: the intent is in a state that nobody knows here, " + o.state()
		}
		return "not confirmed: the intent is " + o.state()
	case Already:
		if o.Intent == nil || o.Intent.State == api.AwaitingConfirmation {
			return "already confirmed: nothing was sent"
		}
		return "already confirmed: the intent is " + o.state() + ", and nothing was sent"
	case Overtaken:
		said := "already confirmed, by another client or by this request doubled on its way"
		if o.state() == "" {
			return said
		}
		return said + ": the intent is now " + o.state()
	case Refused:
		return "not confirmed: the service refused it, and nothing was placed"
	case Unknown:
		return "outcome unknown: it may have been placed"
	case NotTaken:
		return "not taken: nothing was bought"
	}
	return "not confirmed: nothing was sent"
}

// Words says what a confirm waits for and for how long, such as "waiting 7s of 20s for the answer". It begins in lower
// case and has no full stop.
func (p Progress) Words(now time.Time) string {
	passed, left := max(now.Sub(p.At), 0).Truncate(time.Second), max(p.Until.Sub(now), 0)
	left = (left + time.Second - 1).Truncate(time.Second)
	try := ""
	if p.Try > 1 {
		try = fmt.Sprintf("try %d of %d: ", p.Try, p.Tries)
	}
	switch p.Stage {
	case Rereading:
		return fmt.Sprintf("%sreading it again, for %s", try, passed)
	case Recording:
		return "writing it down"
	case Sending:
		what := "for quota"
		if p.Gone {
			what = "for the answer"
		}
		return fmt.Sprintf("%swaiting %s of %s %s", try, passed, p.Until.Sub(p.At).Round(time.Second), what)
	case Pausing:
		return fmt.Sprintf("429: again in %s, try %d of %d", left, p.Try, p.Tries)
	case Settling:
		return "its outcome is unknown: reads settle it"
	}
	return "about to begin"
}

// Advice says what to do now, in whole sentences; "" for nothing.
func (o Outcome) Advice() string {
	switch {
	case o.unlogged():
		return "Do not confirm it anywhere else until the audit log can be read again."
	case o.Unsettled:
		return "Do not confirm it anywhere else: reads settle the earlier one. Look again once they have."
	}
	switch o.Verdict {
	case Accepted, Overtaken, Already, NotConfirmable:
		return o.standing()
	case Changed:
		return "Look at the offer as it is now, and confirm that if you want it."
	case Refused:
		var refusal *api.Error
		if errors.As(o.Err, &refusal) && slices.ContainsFunc(refusal.Fields, func(f api.FieldError) bool { return strings.Contains(string(f.Field), "paymentMethod") }) {
			return `Set confirm_body to how it is paid for, as in '{"paymentMethod":{"type":"drawdown"}}', or say so when you create an intent.`
		}
		if errors.Is(o.Err, api.ErrRateLimited) {
			return "Try again once the limit allows it."
		}
		return "First fix what the service complains about."
	case Unknown:
		return "Do not confirm it again, here or anywhere else. Reads go on while tillwatch runs, and settle it once one is answered. Until then, only the service can tell: look at the intent there."
	}
	return "It is safe to try again."
}

// unlogged reports whether nothing was sent because the audit log failed, rather than for an earlier confirm in it.
func (o Outcome) unlogged() bool {
	return o.Unsettled && o.Err != nil && !errors.As(o.Err, new(*UnsettledError)) && !errors.Is(o.Err, errMeanwhile) && !errors.Is(o.Err, errSettled)
}

// standing says where the order stands, by the last read.
func (o Outcome) standing() string {
	if o.Intent == nil {
		return ""
	}
	switch o.Intent.State {
	case api.PlacingOrder:
		return "The merchant is being asked to place the order."
	case api.Completed:
		if len(o.Intent.OrderIDs) == 0 {
			return "The order is placed."
		}
		ids := make([]string, len(o.Intent.OrderIDs))
		for i, id := range o.Intent.OrderIDs {
			ids[i] = string(id)
		}
		return "The order is placed: " + strings.Join(ids, ", ") + "."
	case api.Failed:
		if o.Intent.Failure != nil {
			return fmt.Sprintf("It failed: %s. %s", o.Intent.Failure.Code.Words(), o.Intent.Failure.Code.Advice())
		}
		return "It failed."
	}
	return ""
}

// String returns the sentence with its reason.
func (o Outcome) String() string {
	said := o.Sentence()
	if o.Unsettled && o.Err != nil {
		said = "nothing was sent this time" // the reason says the rest
	}
	if len(o.Differences) > 0 {
		said += " (" + InWords(o.Differences) + ")"
	}
	if o.Err != nil {
		said += ": " + o.Err.Error()
	}
	return said
}

func (o Outcome) state() string {
	if o.Intent == nil {
		return ""
	}
	return strings.ReplaceAll(string(o.Intent.State), "_", " ")
}
