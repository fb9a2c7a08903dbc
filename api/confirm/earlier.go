package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

// UnsettledError says why an intent was not sent: an earlier confirm of it was,
// by this or another tillwatch of this machine, and what came of it is not known
// yet. It stands in the way until a read settles it, or until it is two minutes old and
// two reads since then still find the intent awaiting confirmation.
type UnsettledError struct{ Earlier Line }

// Error says when the other one was sent and what to do.
func (e *UnsettledError) Error() string {
	until := localTime(e.Earlier.At.Add(settleFor)) + e.Earlier.At.Local().Format(" MST")
	if e.Earlier.Attempt == "" {
		return fmt.Sprintf("%s and may hide an earlier confirm of it: reads settle that, from %s on", e.Earlier.Detail, until)
	}
	return fmt.Sprintf("an earlier confirm of it, sent at %s, is under way or ended without a known outcome: reads settle it, and that takes until %s",
		localTime(e.Earlier.At), until)
}

// errEarlier is why the outcome of a confirm of an earlier run is not known.
var errEarlier = errors.New("an earlier run ended before it learnt what came of it")

// Unsettled lists the confirms that were sent in this environment before the
// guard was made, and whose outcome was not known then, oldest first.
func (g *Guard) Unsettled() []Line { return g.unsettled }

// lookTwice sees to the earlier confirms of an intent that was read and found
// awaiting confirmation. Where they are old enough it reads once more, and records
// that they were not taken if that says the same; else they stand in the way.
func (g *Guard) lookTwice(ctx context.Context, s subject, now api.Intent) (api.Intent, error) {
	open, err := g.audit.openOf(s)
	if err != nil || len(open) == 0 {
		return now, err
	}
	old := now.Response.Sent.Add(-settleFor)
	for _, line := range open {
		if !line.At.Before(old) {
			return now, &UnsettledError{line}
		}
	}
	if err := api.Sleep(ctx, settleGap); err != nil {
		return now, err
	}
	again, err := g.read(ctx, s.intent)
	switch from := again.Response.From; {
	case err != nil:
		return now, fmt.Errorf("reading the intent again: %w", err)
	case from.StandIn != s.standIn:
		return now, fmt.Errorf("%q answers now, and not what answered before", from.Name)
	}
	if again.State == api.AwaitingConfirmation {
		err = g.audit.notTaken(s, old)
	}
	return again, err
}

// SettleEarlier reads the intents of [Guard.Unsettled] until it is known what came
// of each, and records that, so that a later run has no more to ask. It gives up
// what does not tell for longer than settling takes, and returns what is still not
// known.
func (g *Guard) SettleEarlier(ctx context.Context) (open []Line) {
	const longestGap = 4 * settleGap
	began := time.Now()
	seen := map[subject]time.Time{} // when it was old enough, and first found awaiting
	open = g.unsettled
	gap := growing(settleGap, longestGap)
	for len(open) > 0 {
		var still []Line
		given := true
		for _, line := range open {
			if g.settleLine(ctx, line, seen) {
				continue
			}
			still = append(still, line)
			from := began
			if line.At.After(from) { // by a clock that was set back
				from = line.At
			}
			given = given && time.Since(from) > settleFor+2*longestGap
		}
		if open = still; given || api.Sleep(ctx, gap.NextBackOff()) != nil {
			break
		}
	}
	return open
}

// settleLine reads the intent of a line once, and reports whether it is known now
// what came of the confirm.
func (g *Guard) settleLine(ctx context.Context, line Line, seen map[subject]time.Time) bool {
	s := line.subject()
	now, err := g.read(ctx, line.Intent)
	asked := now.Response.Sent
	switch {
	case err != nil || now.Response.From.StandIn != s.standIn:
		return false
	case verdictOf(&now) != Unknown:
		return g.settled(s, &now) == nil
	case now.State != api.AwaitingConfirmation || !line.At.Before(asked.Add(-settleFor)):
		return false
	}
	first, again := seen[s]
	if !again {
		seen[s] = asked
		return false
	}
	return g.audit.notTaken(s, first.Add(-settleFor)) == nil
}

// settled records what an intent that was read proves of earlier confirms of it
// whose outcome was not known. One that still awaits confirmation proves nothing.
func (g *Guard) settled(s subject, now *api.Intent) error {
	proven := verdictOf(now)
	if proven == Unknown {
		return nil
	}
	out := Outcome{Verdict: proven, Intent: now, Err: unlessAccepted(proven, errEarlier)}
	return g.audit.conclude(s, allOpen, proven, out.String())
}
