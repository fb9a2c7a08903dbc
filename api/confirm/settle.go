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

// toldBy is what the state of an intent tells of a confirm that was sent.
func toldBy(now *api.Intent) Verdict {
	switch {
	case now.State == api.AwaitingConfirmation:
		return Unknown // not taken so far; the request may still be under way
	case now.State == api.Failed && now.Payment == nil && !failedWhilePlacing(now):
		return NotConfirmable
	}
	return Accepted
}

// failedWhilePlacing tells a failed order from an intent that expired or failed
// before it was placed: the failure code is all that there is to go by.
func failedWhilePlacing(in *api.Intent) bool {
	return in.Failure != nil && in.Failure.Code != "checkout_intent_expired" && in.Offer != nil
}

func unlessAccepted(v Verdict, cause error) error {
	if v == Accepted {
		return nil
	}
	return cause
}

// errEarlier is why the outcome of a confirm of an earlier run is not known.
var errEarlier = errors.New("an earlier run ended before it learnt what came of it")

// Unsettled lists the confirms that earlier runs sent in this environment and
// whose outcome they never learnt, oldest first.
func (g *Guard) Unsettled() []Line { return g.unsettled }

// SettleEarlier reads the intent of each of [Guard.Unsettled] once and records
// what that tells, so that a later run has no more to ask. It returns what is
// still not known.
func (g *Guard) SettleEarlier(ctx context.Context) (open []Line) {
	for _, line := range g.unsettled {
		now, err := g.read(ctx, line.Intent)
		if err != nil {
			open = append(open, line)
			continue
		}
		told := toldBy(&now)
		if told == Unknown {
			open = append(open, line)
			continue
		}
		out := Outcome{Verdict: told, Intent: &now, Err: unlessAccepted(told, errEarlier)}
		verdict := Line{
			At: time.Now().UTC(), Attempt: line.Attempt, Environment: line.Environment, Intent: line.Intent,
			Verdict: told, Detail: out.String(),
		}
		if err := g.audit.append(verdict); err != nil {
			open = append(open, line)
		}
	}
	return open
}
