package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/api"
)

// An answer does not prove what its request did. It may be lost after the request took effect. It may answer a
// second request, because something on the way sends unanswered ones again; and the first may still be held on its
// way when the second is refused. Clients and common proxies hold a request for 15 to 100 s. So only reads settle
// it: at once if the intent has moved on; if it still awaits confirmation, once nothing can be held any more.
const (
	// settleFor is how long reads try to settle a refused request.
	settleFor = 2 * time.Minute
	// heldFor is how old a confirm whose answer was lost must be before an intent that still awaits confirmation proves
	// that it was not taken: nothing that holds a request holds it so long.
	heldFor = 3 * time.Minute
	// clockSlack is what two clocks that count whole seconds may differ by.
	clockSlack = 2 * time.Second
	// settleGap separates two reads that must agree. A single one may come from a lagging replica.
	settleGap = 10 * time.Second
	// settleGrace is how much longer to try if the last reads fail.
	settleGrace = 30 * time.Second

	firstSettleRead = 500 * time.Millisecond
	lastSettleRead  = settleGap
)

// SettledBy returns when reads have settled a confirm that was sent at a time and whose answer was lost, unless they fail
// or show a state that proves nothing.
func SettledBy(sent time.Time) time.Time { return sent.Add(heldFor + clockSlack + settleGap) }

// errUnmoved says why an acceptance proves nothing: the same answer shows the intent unmoved, or no state.
var errUnmoved = errors.New("the service accepted it, but does not say that the order is being placed")

// errElsewhere says why an acceptance proves nothing: what listens at an address on loopback can change between two
// requests.
var errElsewhere = errors.New("it was accepted by another environment than the one that answered before")

// agreed reports whether an answer was a yes that reads cannot confirm. Then time proves nothing.
func agreed(answer error) bool {
	return errors.Is(answer, errUnmoved) || errors.Is(answer, errElsewhere)
}

// leavesOpen reports whether an answer leaves the request's outcome open.
func leavesOpen(answer error) bool {
	return agreed(answer) || api.IsUnknownOutcome(answer)
}

// settle reads the intent until its state proves the outcome. Once no request can be held on its way any more, a
// refusal counts if at least two reads found the intent still awaiting confirmation; after a lost answer it takes two
// such reads from then on to prove that the confirm was not taken. If reads fail for too long, the outcome stays
// unknown, and [Guard.Settle] goes on.
func (c *confirming) settle(ctx context.Context, cause error) Outcome {
	began := time.Now()
	over := began.Add(settleFor)
	by := over
	ages := leavesOpen(cause) && !agreed(cause) // while it still awaits, time proves that it was not taken
	if ages {
		over = began.Add(heldFor + clockSlack)
		by = over.Add(settleGap)
	}
	reading, stop := context.WithDeadline(ctx, over.Add(settleGrace))
	defer stop()
	c.answer(cause, by)
	c.stage(Progress{Stage: Settling, Why: cause, By: by, Until: over.Add(settleGrace)})
	out := Outcome{Verdict: Unknown, Err: cause}
	awaited, first := 0, time.Time{} // the first read that proves something, as nothing can be held any more
	step := growing(firstSettleRead, lastSettleRead)
	for {
		asked := time.Now()
		now, err := c.read(reading)
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
		passed := !asked.Before(over)
		old := ages && awaiting && c.line.old(now.Response)
		switch {
		case passed && awaiting && awaited > 1 && !leavesOpen(cause):
			out.Verdict = refused(cause)
			return out
		case old && first.IsZero():
			first = asked
		case old && asked.Sub(first) >= settleGap:
			out.Verdict = NotTaken
			return out
		}
		if passed && err == nil && !(ages && awaiting) || api.Sleep(reading, pause(step, over)) != nil {
			if ctx.Err() == nil {
				out.Err = fmt.Errorf("%w; %s", cause, out.shown(time.Since(began)))
			}
			return out
		}
	}
}

// answer records why an answer proves nothing, for whoever looks at the audit log before the verdict. That it fails is
// no harm: the verdict follows.
func (c *confirming) answer(cause error, by time.Time) {
	line := c.line.verdict("", string(api.Scrub(cause.Error())))
	line.Stage, line.Agreed, line.By = Answered, agreed(cause), by.UTC()
	_ = c.guard.audit.add(line)
}

// shown says what the reads of so long showed.
func (o Outcome) shown(long time.Duration) string {
	long = long.Round(time.Second)
	if o.Intent == nil {
		return fmt.Sprintf("no read succeeded for %s", long)
	}
	return fmt.Sprintf("reads for %s showed it %s", long, o.state())
}

// growing returns pauses that double, without jitter: one process reads one intent.
func growing(first, longest time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: first, MaxInterval: longest, Multiplier: 2}
}

// pause returns the next pause, which ends at over at the latest.
func pause(step *backoff.ExponentialBackOff, over time.Time) time.Duration {
	next := step.NextBackOff()
	if left := time.Until(over); left > 0 {
		return min(next, left)
	}
	return next
}

// look reads the intent once after a refusal, and returns the outcome if that proves it.
func (c *confirming) look(ctx context.Context, refusal error) *Outcome {
	now, err := c.read(ctx)
	if err != nil {
		return nil
	}
	return provenBy(&now, refusal)
}

// provenBy returns the outcome that an intent's state proves of a confirm that was sent; nil if none. cause is why
// the answer does not prove it.
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

// refused returns the verdict on a refused request that is proven to have had no effect.
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
	// Not taken so far, though the request may still be under way; or an unknown state.
	return Unknown
}

// failedWhilePlacing reports whether an order failed, rather than an intent that expired or failed before its order
// was placed. An awaiting intent moves on by a confirm or by expiring, so with an offer the failure code decides.
func failedWhilePlacing(in *api.Intent) bool {
	return in.Offer != nil && (in.Failure == nil || in.Failure.Code != api.Expired)
}

func unlessAccepted(v Verdict, cause error) error {
	if v == Accepted {
		return nil
	}
	return cause
}
