package confirm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tillwatch/api"
)

// Unread returns the outcome for an intent that could not be read, with the reason. A nil guard has no earlier
// confirms.
func (g *Guard) Unread(id api.ID, why error) Outcome {
	if g == nil {
		return Outcome{Verdict: NotSent, Err: why}
	}
	var out *Outcome
	for _, environment := range g.cfg.Environments {
		if out = g.without(subjectOf(environment, id), nil, NotSent, why); out.Proves() != NotPlaced {
			break
		}
	}
	return *out
}

// Unlogged returns the outcome of a confirm if the audit log at path cannot be opened: nothing is sent. If that log may
// hold an earlier confirm of the intent without a known outcome, nothing is proven. An id of "" stands for a new intent,
// which any log may hold.
func Unlogged(path string, id api.ID, err error) *Outcome {
	out := unlogged(err)
	out.Unsettled = Logged(path) && (id == "" || !lacks(path, id))
	return out
}

// unlogged is the outcome if the audit log in use can no longer be read: nothing is sent, and that proves nothing, as
// earlier confirms are not known.
func unlogged(err error) *Outcome { return &Outcome{Verdict: NotSent, Err: err, Unsettled: true} }

// lacks reports whether a log is whole and every confirm of the intent in it has a known outcome.
func lacks(path string, id api.ID) bool {
	h := NewHistory(path, nil)
	attempts, whole := h.read()
	log := auditLog{path: path}
	size, known := log.size()
	whole = whole && (!known || size <= h.taken)
	return whole && !slices.ContainsFunc(attempts, func(a Attempt) bool { return a.Sent.Intent == id && a.Open() })
}

// Unsent returns the outcome for an intent that was read but is not confirmed, with the reason. It first settles
// earlier confirms of it, as far as the read proves them. A nil guard has none.
func (g *Guard) Unsent(ctx context.Context, now api.Intent, why error) Outcome {
	if g == nil {
		return Outcome{Verdict: verdictUnsent(&now), Intent: &now, Err: why}
	}
	s := subjectOf(now.Response.From.Name, now.ID)
	err := g.settled(s, &now)
	if now.State == api.AwaitingConfirmation {
		now, err = g.lookTwice(ctx, s, now)
	}
	return *g.without(s, &now, verdictUnsent(&now), both(why, err))
}

// Rehearse returns the outcome for an intent that was read but is not confirmed, with the reason, as Unsent does, but
// only looks at the audit log. Without any reason, a confirm would be sent.
func (g *Guard) Rehearse(now api.Intent, why error) Outcome {
	if g == nil {
		return Outcome{Verdict: verdictUnsent(&now), Intent: &now, Err: why}
	}
	return *g.without(subjectOf(now.Response.From.Name, now.ID), &now, verdictUnsent(&now), why)
}

// without returns the outcome of a confirm that sent nothing. If an earlier one was accepted, there is an order unless
// the read shows otherwise; while one is unsettled, nothing is proven.
func (g *Guard) without(s subject, now *api.Intent, v Verdict, why error) *Outcome {
	if open := now == nil || verdictOf(now) == Unknown; open && !isNew(s.intent) && errors.Is(g.taken(s), errTaken) {
		v = Already
		if !errors.Is(why, errTaken) {
			why = both(why, errTaken)
		}
	}
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

// verdictUnsent returns the verdict on an intent that cannot be confirmed, when nothing was sent.
func verdictUnsent(now *api.Intent) Verdict {
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
