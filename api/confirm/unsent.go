package confirm

import (
	"context"
	"errors"
	"fmt"

	"tillwatch/api"
)

// Unread is how a confirm ends of an intent that could not be read, for the reason
// that why gives. A nil guard knows of no earlier confirms.
func (g *Guard) Unread(id api.ID, why error) Outcome {
	if g == nil {
		return Outcome{Verdict: NotSent, Err: why}
	}
	var out *Outcome
	for _, environment := range g.cfg.Environments {
		if out = g.without(subjectOf(environment, id), nil, NotSent, why); out.Unsettled {
			break
		}
	}
	return *out
}

// Unsent is how a confirm ends of an intent that was read and for which nothing is
// sent, for the reason that why gives. What came of earlier confirms of it is
// settled first, as far as reads tell. A nil guard knows of none.
func (g *Guard) Unsent(ctx context.Context, now api.Intent, why error) Outcome {
	if g == nil {
		return Outcome{Verdict: standing(&now), Intent: &now, Err: why}
	}
	s := subjectOf(now.Response.From.Name, now.ID)
	err := g.settled(s, &now)
	if now.State == api.AwaitingConfirmation {
		now, err = g.lookTwice(ctx, s, now)
	}
	return *g.without(s, &now, standing(&now), both(why, err))
}

// without is how a confirm ends that sent nothing. While an earlier one is not
// settled, that proves nothing.
func (g *Guard) without(s subject, now *api.Intent, v Verdict, why error) *Outcome {
	earlier, err := g.audit.openOf(s)
	if err == nil && len(earlier) > 0 {
		err = &UnsettledError{earlier[0]}
	}
	out := &Outcome{Verdict: v, Intent: now, Err: why, Unsettled: err != nil || errors.Is(why, errMeanwhile)}
	if !errors.As(why, new(*UnsettledError)) {
		out.Err = both(why, err)
	}
	return out
}

// standing is the verdict on an intent that cannot be confirmed, where nothing was
// sent.
func standing(now *api.Intent) Verdict {
	if now.State == api.PlacingOrder || now.State == api.Completed {
		return Already
	}
	return NotConfirmable
}

// both joins two errors within a sentence.
func both(a, b error) error {
	if a == nil || b == nil {
		return errors.Join(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}
