package confirm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

const (
	// races bounds how often an intent is reread because another process recorded something about it meanwhile. That
	// happens at most once before the intent moves on.
	races = 5
	// perSecondTries bounds the sends when each is refused by the per-second bucket.
	perSecondTries = 4
	// sendWithin bounds a send, including its wait for quota, so that nothing can be held on its way when settleFor
	// has passed since the line in the audit log.
	sendWithin = 20 * time.Second
)

// confirming is one confirm that a person approved.
type confirming struct {
	guard  *Guard
	seen   Proposal
	report func(Progress)
	try    int             // which request it is, or is about to be
	line   Line            // in the audit log, once recorded
	from   api.Environment // the environment that answered the last read
	token  api.Secret      // what the intent is paid with, by the last read
}

func (c *confirming) subject() subject { return subjectOf(c.seen.Environment, c.seen.ID) }

// run goes through the stages.
func (c *confirming) run(ctx context.Context) Outcome {
	if out := c.prepare(ctx); out != nil {
		return *out
	}
	out := c.send(ctx)
	out.Attempt = c.line.Attempt
	out.Unsettled = errors.Is(out.Err, errSettled)
	if out.Proves() == Placed {
		out.Differences = c.seen.CostsNow(out.Intent)
	}
	if err := c.guard.audit.conclude(c.subject(), c.line.is, out, out.String()); err != nil {
		out.Err = both(out.Err, unrecorded(err))
	}
	return out
}

// stage reports that a stage begins.
func (c *confirming) stage(at Progress) {
	at.At, at.Try, at.Tries = time.Now(), c.try, perSecondTries
	c.report(at)
}

// errWithdrawn says why nothing was sent.
var errWithdrawn = errors.New("it was canceled before it was written down")

// untilWithdrawn returns a context that also ends when the person takes the yes back.
func (c *confirming) untilWithdrawn(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if c.seen.Withdrawn != nil {
		go func() {
			select {
			case <-c.seen.Withdrawn:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// prepare rereads, compares and records. It returns the outcome if nothing is to be sent.
func (c *confirming) prepare(ctx context.Context) *Outcome {
	ctx, stop := c.untilWithdrawn(ctx)
	defer stop()
	g := c.guard
	c.try = 1
	c.stage(Progress{Stage: Rereading})
	mark, err := g.audit.mark(c.subject())
	if err != nil {
		return unlogged(err)
	}
	now, err := c.read(ctx)
	if err != nil && ctx.Err() == nil {
		return g.without(c.subject(), nil, NotSent, fmt.Errorf("reading the intent again: %w", err))
	}
	if err == nil && now.State == api.AwaitingConfirmation {
		if now, err = g.lookTwice(ctx, c.subject(), now); err != nil && ctx.Err() == nil {
			return g.without(c.subject(), &now, NotSent, err)
		}
	}
	if ctx.Err() != nil {
		return g.without(c.subject(), nil, NotSent, errWithdrawn)
	}
	if now.State != api.AwaitingConfirmation {
		return g.without(c.subject(), &now, verdictUnsent(&now), g.settled(c.subject(), &now))
	}
	if differences := c.seen.differences(&now); len(differences) > 0 {
		out := g.without(c.subject(), &now, Changed, nil)
		out.Differences = differences
		return out
	}
	c.stage(Progress{Stage: Recording})
	p := c.seen
	c.line = Line{
		At: time.Now().UTC(), Date: now.Response.Date, Attempt: newAttempt(), Run: g.cfg.Run, Environment: p.Environment, Intent: p.ID, Stage: Sending,
		Product: p.Product, Merchant: p.Merchant, Quantity: p.Quantity, Total: p.Total.String(),
	}
	if ctx.Err() != nil {
		return g.without(c.subject(), &now, NotSent, errWithdrawn)
	}
	if err := g.audit.begin(&c.line, mark); err != nil {
		return g.without(c.subject(), &now, NotSent, err)
	}
	return nil
}

// send sends until the per-second bucket lets the request through, and settles the outcome if the answer does not
// prove it. Each send is recorded first, and goes out only while the intent is as it was seen.
func (c *confirming) send(ctx context.Context) Outcome {
	var refusal error
	for {
		answer, err := c.post(ctx)
		neverLeft := err != nil && !leavesOpen(err) && !errors.As(err, new(*api.Error))
		switch {
		case err == nil:
			return c.answered(ctx, answer)
		case neverLeft && refusal == nil:
			return Outcome{Verdict: NotSent, Err: err}
		case neverLeft:
			return c.settle(ctx, refusal)
		case !errors.Is(err, api.ErrPerSecond) || c.try == perSecondTries:
			return c.settle(ctx, err)
		}
		refusal = err
		if proven := c.look(ctx, refusal); proven != nil {
			return *proven
		}
		if !c.again(ctx, refusal) {
			return c.settle(ctx, refusal)
		}
	}
}

// answered returns the outcome of a confirm that the service accepted. If the answer does not show the intent moved on,
// reads settle it.
func (c *confirming) answered(ctx context.Context, answer api.Intent) Outcome {
	switch answer.State {
	case api.AwaitingConfirmation, api.RetrievingOffer, "":
		return c.settle(ctx, errUnmoved)
	case api.Failed:
		return Outcome{Verdict: verdictOf(&answer), Intent: &answer}
	}
	return Outcome{Verdict: Accepted, Intent: &answer}
}

// post sends the request.
func (c *confirming) post(ctx context.Context) (api.Intent, error) {
	g := c.guard
	bounded, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	asked := time.Now()
	going := Progress{Stage: Sending, Until: asked.Add(sendWithin)}
	c.stage(going)
	body := g.cfg.Body
	// A confirm for a stand-in must reach nothing else, whatever takes the next request.
	body.StandIn, body.Hidden, body.After = c.from.StandIn, c.token, c.line.After
	depart := g.audit.departure(c.line)
	body.Departure = func() (written func(), err error) {
		if written, err = depart(); err == nil {
			going.Gone = true
			if answered := time.Now().Add(api.AttemptTimeout); answered.Before(going.Until) {
				going.Until = answered // the client waits no longer
			}
			c.stage(going)
		}
		return written, err
	}
	answer, err := g.cfg.Service.ConfirmIntent(bounded, c.seen.ID, body)
	switch {
	case err == nil && c.seen.answeredBy(answer.Response.From) != nil:
		err = errElsewhere
	case err == nil && answer.ID == c.seen.ID:
		g.pass(answer, asked, true)
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		err = fmt.Errorf("given up after %s: %w", sendWithin, err)
	}
	return answer, err
}

// again waits as long as a refusal for the rate asks for, and reports whether the confirm may be sent again: the
// intent is as it was seen, and the next send is recorded.
func (c *confirming) again(ctx context.Context, refusal error) bool {
	c.try++
	pause := wait(refusal)
	c.stage(Progress{Stage: Pausing, Why: refusal, Until: time.Now().Add(pause)})
	if api.Sleep(ctx, pause) != nil {
		return false
	}
	c.stage(Progress{Stage: Rereading})
	now, err := c.read(ctx)
	if err != nil || now.State != api.AwaitingConfirmation || len(c.seen.differences(&now)) > 0 {
		return false
	}
	c.stage(Progress{Stage: Recording})
	c.line.At, c.line.Date = time.Now().UTC(), now.Response.Date
	return c.guard.audit.add(c.line) == nil
}

// read reads the intent in the environment where it was seen. Other environments prove nothing.
func (c *confirming) read(ctx context.Context) (in api.Intent, err error) {
	in, err = c.guard.read(ctx, c.seen.ID)
	if err == nil {
		c.from = in.Response.From
		if in.Payment != nil {
			c.token = in.Payment.Token
		}
		err = c.seen.answeredBy(c.from)
	}
	return in, err
}

func (g *Guard) read(ctx context.Context, id api.ID) (api.Intent, error) {
	asked := time.Now()
	in, err := g.cfg.Service.Intent(ctx, id)
	if err == nil && in.ID == id {
		g.pass(in, asked, false)
	}
	return in, err
}

func (g *Guard) pass(in api.Intent, asked time.Time, confirmed bool) {
	if g.cfg.Read != nil {
		g.cfg.Read(in, cmp.Or(in.Response.Sent, asked), confirmed)
	}
}
