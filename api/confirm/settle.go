package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/api"
)

// An answer does not prove what came of a request. It may be lost after the
// request took effect; it may be that of a second request, where something on the
// way sends again what it got no answer to; and a first one may still be held on
// the way when the second is refused. Clients and the usual proxies hold a request
// for 15 to 100 s. So only reads settle it: at once where the intent has moved on,
// and where it still awaits confirmation, once nothing can be held any more.
const (
	// settleFor is how long reads settle what was sent, and how old a confirm must be
	// before an intent that still awaits confirmation proves that it was not taken.
	settleFor = 2 * time.Minute
	// settleGap lies between two reads that say the same. One alone may come from a
	// copy of the data that lags behind.
	settleGap = 10 * time.Second
	// settleGrace is how long the last reads may fail.
	settleGrace = 30 * time.Second

	firstSettleRead = 500 * time.Millisecond
	lastSettleRead  = settleGap
)

// errStillAwaiting is why a yes of the service proves nothing: by the same answer
// nothing has moved.
var errStillAwaiting = errors.New("the service took it, and says that the intent still awaits confirmation")

// leavesOpen reports whether what was answered leaves open what came of a request.
func leavesOpen(answer error) bool {
	return errors.Is(answer, errStillAwaiting) || api.IsUnknownOutcome(answer)
}

// settle reads the intent until its state proves what came of a request. A service
// that said no is believed once reads, more than one of them, have found the intent
// still awaiting confirmation when no request can be held on its way any more. An
// answer that was lost leaves it unknown even then.
func (c *confirming) settle(ctx context.Context, cause error) Outcome {
	began := time.Now()
	over := began.Add(settleFor)
	c.report(Progress{Stage: Settling, Why: cause, Until: over})
	out := Outcome{Verdict: Unknown, Err: cause}
	awaited := 0
	step := growing(firstSettleRead, lastSettleRead)
	for {
		asked := time.Now()
		now, err := c.read(ctx)
		if err == nil {
			out.Intent = &now
			if proven := provenBy(&now, cause); proven != nil {
				return *proven
			}
		}
		awaiting := err == nil && now.State == api.AwaitingConfirmation
		if awaiting {
			awaited++
		}
		switch passed := !asked.Before(over); {
		case passed && awaiting && awaited > 1 && !leavesOpen(cause):
			out.Verdict = refused(cause)
			return out
		case passed && (err == nil || !asked.Before(over.Add(settleGrace))):
			out.Err = fmt.Errorf("%w; reads for %s still say awaiting confirmation or nothing at all", cause, time.Since(began).Round(time.Second))
			return out
		}
		if api.Sleep(ctx, pause(step, over)) != nil {
			return out
		}
	}
}

// growing doubles a pause each time, without jitter: one process reads one intent.
func growing(first, longest time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: first, MaxInterval: longest, Multiplier: 2}
}

// pause is the next one of those that grow: until over, where that comes first.
func pause(step *backoff.ExponentialBackOff, over time.Time) time.Duration {
	next := step.NextBackOff()
	if left := time.Until(over); left > 0 {
		return min(next, left)
	}
	return next
}

// look reads the intent once after the service said no, and returns how the confirm
// ended if that proves it.
func (c *confirming) look(ctx context.Context, refusal error) *Outcome {
	now, err := c.read(ctx)
	if err != nil {
		return nil
	}
	return provenBy(&now, refusal)
}

// provenBy is how a confirm that was sent ended, nil while the state of the intent
// does not tell. cause is why the answer does not.
func provenBy(now *api.Intent, cause error) *Outcome {
	verdict := verdictOf(now)
	switch {
	case verdict == Unknown:
		return nil
	case verdict == Accepted && !leavesOpen(cause):
		verdict = Overtaken
	}
	return &Outcome{Verdict: verdict, Intent: now, Err: unlessAccepted(verdict, cause)}
}

// refused is the verdict on what the service said no to, once it is proven that
// nothing came of it.
func refused(answer error) Verdict {
	if errors.Is(answer, api.ErrNotFound) || errors.Is(answer, api.ErrConflict) {
		return NotConfirmable
	}
	return Refused
}

// verdictOf is what the state of an intent proves of a confirm that was sent.
func verdictOf(now *api.Intent) Verdict {
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

// failedWhilePlacing sets a failed order apart from an intent that expired or failed
// before it was placed. An awaiting intent moves on by a confirm or by expiring,
// so of one with an offer the failure code is all that there is to go by.
func failedWhilePlacing(in *api.Intent) bool {
	return in.Offer != nil && (in.Failure == nil || in.Failure.Code != api.Expired)
}

func unlessAccepted(v Verdict, cause error) error {
	if v == Accepted {
		return nil
	}
	return cause
}
