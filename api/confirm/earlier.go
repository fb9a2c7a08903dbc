package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

// UnsettledError says that an intent was not sent because this or another tillwatch of this machine sent an
// earlier confirm of it, whose outcome is unknown. It ends when a read settles the outcome, or when the confirm is
// two minutes old and two reads since then still show the intent awaiting confirmation.
type UnsettledError struct{ Earlier Line }

// Error says when the earlier confirm was sent and what to do.
func (e *UnsettledError) Error() string {
	until := localTime(e.Earlier.At.Add(settleFor)) + e.Earlier.At.Local().Format(" MST")
	if e.Earlier.Attempt == "" {
		return fmt.Sprintf("%s and may hide an earlier confirm of it: reads settle that, from %s on", e.Earlier.Detail, until)
	}
	return fmt.Sprintf("an earlier confirm of it, sent at %s, is under way or ended without a known outcome: reads settle it, and that takes until %s",
		localTime(e.Earlier.At), until)
}

// errEarlier says whose confirm a read settled: that of an earlier run, or of another one that still runs.
var errEarlier = errors.New("an earlier confirm of it is under way, or ended without a known outcome")

// errTaken says that a confirm of an intent was accepted, although no read shows that now. No intent goes back by the
// contract: a read that shows it awaiting confirmation is behind, or the service is wrong.
var errTaken = errors.New("a confirm of it was accepted before: do not confirm it anywhere else, and ask the service if it shows no order")

// Unsettled lists this environment's confirms whose outcome was unknown when the guard was created, oldest first.
func (g *Guard) Unsettled() []Line { return g.unsettled }

// lookTwice settles earlier confirms of an intent that a read found awaiting confirmation. If they are old enough,
// it reads once more and, if that shows the same, records that they were not taken; otherwise it returns an
// [UnsettledError]. If one was accepted, it returns errTaken, except for a stand-in: a new one has the old ids.
func (g *Guard) lookTwice(ctx context.Context, s subject, now api.Intent) (api.Intent, error) {
	if err := g.taken(s); err != nil {
		return now, err
	}
	open, err := g.audit.openOf(s)
	if err != nil || len(open) == 0 {
		return now, err
	}
	for _, line := range open {
		if !line.old(now.Response) {
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
		return now, fmt.Errorf("%q answers now, not the environment that answered before", from.Name)
	}
	if again.State == api.AwaitingConfirmation {
		err = g.audit.notTaken(s, now.Response)
	}
	return again, err
}

// taken returns errTaken if a confirm was accepted, except by a stand-in.
func (g *Guard) taken(s subject) error {
	accepted, err := g.audit.madeOf(s)
	if err == nil && accepted != "" && !s.standIn {
		err = errTaken
	}
	return err
}

// SettleEarlier reads the intents of [Guard.Unsettled] until the outcome of each is known, and records it for
// later runs. It gives up on those that take longer than settling can, and returns them.
func (g *Guard) SettleEarlier(ctx context.Context) (open []Line) {
	const longestGap = 4 * settleGap
	began := time.Now()
	seen := map[subject]api.Response{} // when it was old enough, and first found awaiting
	open = g.unsettled
	gap := growing(settleGap, longestGap)
	for len(open) > 0 {
		var still []Line
		for _, line := range open {
			if !g.settleLine(ctx, line, seen) {
				still = append(still, line)
			}
		}
		open = still
		if len(open) == 0 || time.Since(began) > settleFor+2*longestGap || api.Sleep(ctx, gap.NextBackOff()) != nil {
			break
		}
	}
	return open
}

// settleLine reads the intent of a line once, and reports whether the outcome is now known.
func (g *Guard) settleLine(ctx context.Context, line Line, seen map[subject]api.Response) bool {
	s := line.subject()
	now, err := g.read(ctx, line.Intent)
	switch {
	case err != nil || now.Response.From.StandIn != s.standIn:
		return false
	case verdictOf(&now) != Unknown:
		return g.settled(s, &now) == nil
	case now.State != api.AwaitingConfirmation || !line.old(now.Response):
		return false
	}
	first, again := seen[s]
	if !again {
		seen[s] = now.Response
		return false
	}
	return g.audit.notTaken(s, first) == nil
}

// settled records what a read of an intent proves about earlier confirms without a known outcome. An intent that
// still awaits confirmation proves nothing.
func (g *Guard) settled(s subject, now *api.Intent) error {
	proven := verdictOf(now)
	if proven == Unknown {
		return nil
	}
	out := Outcome{Verdict: proven, Intent: now, Err: unlessAccepted(proven, errEarlier)}
	return g.audit.conclude(s, allOpen, proven, out.String())
}
