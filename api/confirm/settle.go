package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

const (
	settleFor       = 2 * time.Minute // reads after which an unknown outcome is left unknown
	firstSettleRead = 500 * time.Millisecond
	lastSettleRead  = 10 * time.Second
)

// settle reads the intent until its state tells what came of a request whose
// answer is missing.
func (g *Guard) settle(ctx context.Context, id api.ID, cause error) Outcome {
	out := Outcome{Verdict: Unknown, Err: cause}
	deadline := time.Now().Add(settleFor)
	for step := firstSettleRead; time.Now().Before(deadline); step = min(2*step, lastSettleRead) {
		if pause(ctx, step) != nil {
			return out
		}
		now, err := g.read(ctx, id)
		if err != nil {
			continue
		}
		out.Intent = &now
		if told := toldBy(&now); told != Unknown {
			return Outcome{Verdict: told, Intent: &now, Err: unlessAccepted(told, cause)}
		}
	}
	out.Err = fmt.Errorf("%w; reads for %s still say awaiting confirmation or nothing at all", cause, settleFor)
	return out
}

// verify looks whether a refusal is the whole truth: where a request was doubled
// on its way, the answer may be that of the second, and the first was taken.
func (g *Guard) verify(ctx context.Context, id api.ID, refusal error) Outcome {
	out := Outcome{Verdict: Refused, Err: refusal}
	if errors.Is(refusal, api.ErrNotFound) || errors.Is(refusal, api.ErrConflict) {
		out.Verdict = NotConfirmable
	}
	deadline := time.Now().Add(settleFor)
	for step := firstSettleRead; ; step = min(2*step, lastSettleRead) {
		now, err := g.read(ctx, id)
		switch {
		case err == nil:
			out.Intent = &now
			switch toldBy(&now) {
			case Accepted:
				out.Verdict = Overtaken
			case NotConfirmable:
				out.Verdict = NotConfirmable
			}
			return out
		case unreadable(err):
			return out // so it was refused for the same reason
		}
		if !time.Now().Before(deadline) || pause(ctx, step) != nil {
			out.Verdict = Unknown
			return out
		}
	}
}

// unreadable reports whether the service refuses to show the intent at all.
func unreadable(err error) bool {
	var answered *api.Error
	return errors.As(err, &answered) && answered.Status/100 == 4 && !errors.Is(err, api.ErrPerSecond)
}

// toldBy is what the state of an intent tells of a confirm that was sent.
func toldBy(now *api.Intent) Verdict {
	if now == nil {
		return Unknown
	}
	switch now.State {
	case api.PlacingOrder, api.Completed:
		return Accepted
	case api.Failed:
		if failedWhilePlacing(now) {
			return Accepted
		}
		return NotConfirmable
	}
	// Not taken so far, and the request may still be under way; or a state of
	// which nobody knows where it stands.
	return Unknown
}

// failedWhilePlacing tells a failed order from an intent that expired or failed
// before it was placed. An awaiting intent moves on by a confirm or by expiring,
// so of one with an offer the failure code is all that there is to go by.
func failedWhilePlacing(in *api.Intent) bool {
	return in.Offer != nil && (in.Failure == nil || in.Failure.Code != expired)
}

const expired api.FailureCode = "checkout_intent_expired"

func unlessAccepted(v Verdict, cause error) error {
	if v == Accepted {
		return nil
	}
	return cause
}

// UnsettledError says why an intent was not sent: an earlier confirm of it was,
// by this or another tillwatch of this machine, and what came of it is not known
// yet. It stands in the way until a read tells, or until a read two minutes after
// it was sent still finds the intent awaiting confirmation.
type UnsettledError struct{ Earlier Line }

// Error says when the other one was sent and what to do.
func (e *UnsettledError) Error() string {
	return fmt.Sprintf("an earlier confirm of it, sent at %s, is under way or ended without a known outcome: reading settles it, at the latest %s after it was sent",
		e.Earlier.At.Format("15:04:05 MST"), settleFor)
}

// errEarlier is why the outcome of a confirm of an earlier run is not known.
var errEarlier = errors.New("an earlier run ended before it learnt what came of it")

// Unsettled lists the confirms that were sent in this environment before the
// guard was made, and whose outcome was not known then, oldest first.
func (g *Guard) Unsettled() []Line { return g.unsettled }

// SettleEarlier reads the intent of each of [Guard.Unsettled] once and records
// what that tells, so that a later run has no more to ask. It returns what is
// still not known.
func (g *Guard) SettleEarlier(ctx context.Context) (open []Line) {
	for _, line := range g.unsettled {
		now, err := g.read(ctx, line.Intent)
		if err != nil || toldBy(&now) == Unknown || g.settled(line, &now) != nil {
			open = append(open, line)
		}
	}
	return open
}

// Settle records what an intent that was read tells of earlier confirms of it
// whose outcome was not known. One that still awaits confirmation tells nothing.
func (g *Guard) Settle(now *api.Intent) error {
	if toldBy(now) == Unknown {
		return nil
	}
	lines, err := g.audit.openOf(subject{g.cfg.Environment, now.ID})
	for _, line := range lines {
		err = errors.Join(err, g.settled(line, now))
	}
	return err
}

// settled records what the state of an intent tells of an earlier confirm.
func (g *Guard) settled(line Line, now *api.Intent) error {
	told := toldBy(now)
	out := Outcome{Verdict: told, Intent: now, Err: unlessAccepted(told, errEarlier)}
	return g.audit.append(line.verdict(told, out.String()))
}
