package confirm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tillwatch/api"
)

// UnsettledError says that an intent was not sent because this or another tillwatch of this machine sent an
// earlier confirm of it, whose outcome is unknown. It ends when a read settles the outcome, or when the confirm is
// three minutes old and two reads since then still show the intent awaiting confirmation, unless the service said yes.
type UnsettledError struct{ Earlier Line }

// Error says when the earlier confirm was sent and what to do.
func (e *UnsettledError) Error() string {
	until := localTime(e.Earlier.At.Add(heldFor)) + e.Earlier.At.Local().Format(" MST")
	if e.Earlier.Attempt == "" {
		return fmt.Sprintf("%s and may hide an earlier confirm of it: reads settle that, from %s on", e.Earlier.Detail, until)
	}
	if e.Earlier.Agreed {
		return fmt.Sprintf("the service said yes to an earlier confirm of it, sent at %s, but reads show nothing of it: it stays unknown until the intent moves on or expires",
			localTime(e.Earlier.At))
	}
	return fmt.Sprintf("an earlier confirm of it, sent at %s, is under way or ended without a known outcome: reads settle it, and that takes until %s",
		localTime(e.Earlier.At), until)
}

// errEarlier says whose confirm a read settled: that of an earlier run, or of another one that still runs.
var errEarlier = errors.New("an earlier confirm of it is under way, or ended without a known outcome")

// errTaken says that a confirm of an intent was accepted, although no read shows that now. No intent goes back by the
// contract: a read that shows it awaiting confirmation is behind, or the service is wrong.
var errTaken = errors.New("a confirm of it was accepted before: do not confirm it anywhere else, and ask the service if it shows no order")

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
		err = g.audit.notTaken(s, func(l Line) bool { return l.old(now.Response) })
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

// Settle reads each intent whose confirm has no known outcome, whichever run sent it, until ctx ends, and records what
// the reads prove.
func (g *Guard) Settle(ctx context.Context) {
	seen := map[send]proof{}
	for round := 0; ; round++ {
		open := g.open()
		maps.DeleteFunc(seen, func(sent send, _ proof) bool {
			return !slices.ContainsFunc(open, func(l Line) bool { return l.send() == sent })
		})
		for _, line := range open {
			again := !seen[line.send()].aged.Sent.IsZero()
			if again || round%patientRounds == 0 || time.Since(line.At) < patientAfter {
				g.settleLine(ctx, line, seen)
			}
		}
		if api.Sleep(ctx, settleGap) != nil {
			return
		}
	}
}

const (
	// patientAfter is how old a confirm must be to be read only every patientRounds: it takes long already.
	patientAfter  = 10 * time.Minute
	patientRounds = 6
	// gone is how long the service must not know an intent until nobody will ever know the outcome of its confirm.
	gone = 5 * time.Minute
)

// open lists the confirms here that have no known outcome and are not under way in this process, oldest first.
func (g *Guard) open() []Line {
	lines, err := readLocked(g.audit, func() []Line { return slices.Clone(g.audit.open) })
	if err != nil {
		return nil // the next confirm says so
	}
	return slices.DeleteFunc(lines, func(l Line) bool {
		_, busy := g.inFlight.Load(l.Intent)
		return busy || isNew(l.Intent) || !slices.Contains(g.cfg.Environments, l.Environment)
	})
}

// send names one request of an attempt, which its rate may have made it repeat. Reads that were made before a request
// prove nothing of it.
type send struct {
	attempt string
	at      time.Time
}

func (l Line) send() send { return send{l.Attempt, l.At} }

// proof is what reads have shown since this run learnt of a request.
type proof struct {
	first   time.Time    // when this run first read that the intent still awaits confirmation
	aged    api.Response // of the first such read of a confirm that was old by then
	missing time.Time    // since when the service does not know the intent; zero: it does
}

// settleLine reads the intent of a line once, and records the outcome if that is now known.
func (g *Guard) settleLine(ctx context.Context, line Line, seen map[send]proof) {
	s := line.subject()
	now, err := g.read(ctx, line.Intent)
	shown := seen[line.send()]
	isIt := func(l Line) bool { return l.send() == line.send() }
	if err == nil {
		shown.missing = time.Time{}
	}
	switch {
	case errors.Is(err, api.ErrMissing) && shown.missing.IsZero():
		shown.missing = time.Now()
	case errors.Is(err, api.ErrMissing):
		if time.Since(shown.missing) >= gone {
			out := Outcome{Verdict: NeverKnown}
			_ = g.audit.conclude(s, isIt, out, "the service has not known the intent for "+api.Span(gone)) // else the next read does
		}
	case err != nil || now.Response.From.StandIn != s.standIn:
	case verdictOf(&now) != Unknown:
		_ = g.settled(s, &now)
	case now.State != api.AwaitingConfirmation:
	case !shown.aged.Sent.IsZero():
		_ = g.audit.notTaken(s, func(l Line) bool { return l.old(shown.aged) })
	case line.old(now.Response):
		shown.aged = now.Response
	case shown.first.IsZero():
		shown.first = now.Response.Sent
	case now.Response.Sent.Sub(shown.first) > heldFor: // whatever the clocks say, it was sent before this run first read it
		_ = g.audit.notTaken(s, func(l Line) bool { return isIt(l) && !l.Agreed })
	}
	seen[line.send()] = shown
}

// settled records what a read of an intent proves about earlier confirms without a known outcome. An intent that
// still awaits confirmation proves nothing.
func (g *Guard) settled(s subject, now *api.Intent) error {
	proven := verdictOf(now)
	if proven == Unknown {
		return nil
	}
	out := Outcome{Verdict: proven, Intent: now, Err: unlessAccepted(proven, errEarlier)}
	return g.audit.conclude(s, allOpen, out, out.String())
}
