package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

// races bounds how often an intent is read again because another process wrote of
// it meanwhile. One does so at most once before the intent moves on.
const races = 5

// try goes through the stages once.
func (g *Guard) try(ctx context.Context, p Proposal, progress func(Stage)) (out Outcome) {
	for range races {
		out = g.tryOnce(ctx, p, progress)
		if !errors.Is(out.Err, errMeanwhile) {
			break
		}
	}
	return out
}

func (g *Guard) tryOnce(ctx context.Context, p Proposal, progress func(Stage)) Outcome {
	progress(Rereading)
	mark, err := g.audit.mark(subject{p.Environment, p.ID})
	if err != nil {
		return Outcome{Verdict: NotSent, Err: err}
	}
	asked := time.Now()
	now, err := g.read(ctx, p.ID)
	if err != nil {
		return Outcome{Verdict: NotSent, Err: fmt.Errorf("reading the intent again: %w", err)}
	}
	if now.State != api.AwaitingConfirmation {
		return Outcome{Verdict: NotConfirmable, Intent: &now, Err: g.Settle(&now)}
	}
	if differences := p.differences(&now); len(differences) > 0 {
		return Outcome{Verdict: Changed, Intent: &now, Differences: differences}
	}
	progress(Recording)
	line := Line{
		At: time.Now().UTC(), Attempt: newAttempt(), Environment: p.Environment, Intent: p.ID, Stage: Sending,
		Product: p.Product, Merchant: p.Merchant, Quantity: p.Quantity, Total: p.Total.String(),
	}
	earlier, err := g.audit.begin(line, mark, asked.Add(-settleFor))
	switch {
	case err != nil:
		return Outcome{Verdict: NotSent, Intent: &now, Err: err}
	case earlier != nil:
		return Outcome{Verdict: NotSent, Intent: &now, Err: &UnsettledError{*earlier}}
	}
	outcome := g.send(ctx, p.ID, progress)
	outcome.Attempt = line.Attempt
	if err := g.audit.append(line.verdict(outcome.Verdict, outcome.String())); err != nil {
		outcome.Err = errors.Join(outcome.Err, err)
	}
	return outcome
}

// send sends the one request, and finds out what came of it where the answer
// does not tell.
func (g *Guard) send(ctx context.Context, id api.ID, progress func(Stage)) Outcome {
	progress(Sending)
	sent := time.Now()
	answer, err := g.cfg.Service.ConfirmIntent(api.WithSent(ctx, &sent), id, g.cfg.Body)
	if err == nil {
		if answer.ID == id {
			g.tell(answer, sent, true)
		}
		return Outcome{Verdict: Accepted, Intent: &answer}
	}
	var answered *api.Error
	switch {
	case api.IsUnknownOutcome(err):
		progress(Settling)
		return g.settle(ctx, id, err)
	case !errors.As(err, &answered): // it never left, so nobody refused it
		return Outcome{Verdict: NotSent, Err: err}
	}
	progress(Settling)
	return g.verify(ctx, id, err)
}

func (g *Guard) read(ctx context.Context, id api.ID) (api.Intent, error) {
	sent := time.Now()
	in, err := g.cfg.Service.Intent(api.WithSent(ctx, &sent), id)
	if err == nil && in.ID == id {
		g.tell(in, sent, false)
	}
	return in, err
}

func (g *Guard) tell(in api.Intent, sent time.Time, confirmed bool) {
	if g.cfg.Read != nil {
		g.cfg.Read(in, sent, confirmed)
	}
}
