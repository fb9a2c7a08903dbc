package confirm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

// Maker makes intents; [api.Client] is one.
type Maker interface {
	CreateIntent(ctx context.Context, body api.CreateIntent) (api.Intent, error)
	Purchase(ctx context.Context, body api.CreateIntent) (api.Intent, error)
	Intent(ctx context.Context, id api.ID) (api.Intent, error)
	Lister
}

// Creation is a new intent that a person approved.
type Creation struct {
	Environment string
	Purchase    bool             // create and buy in one step
	Wanted      api.Intent       // product URL, quantity, variants and reference as requested
	Most        string           // the most it may cost, for the audit log; "" for no limit
	Body        api.CreateIntent // sent as it is
	Another     bool             // one more item of the order with this reference
	Again       bool             // although an equal one has no known outcome: it may be made twice
	Why         error            // why it is not to be sent, unless it was before; nil: send it
}

// ErrUsed says that the reference belongs to another intent, which may have been created. Set [Creation.Another]
// to add one more item to that order.
var ErrUsed = errors.New("the reference belongs to another intent")

// subject returns the audit log's name for a creation, which has no id yet: its reference and what is requested.
// Every creation without a reference has its own.
func (c Creation) subject(attempt string) subject {
	if c.Wanted.ReferenceID == "" {
		return subjectOf(c.Environment, api.ID(api.Scrub(creationMark+attempt)))
	}
	w := c.Wanted
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %q", w.ProductURL, w.Quantity, w.Variants))
	return subjectOf(c.Environment, api.ID(api.Scrub(fmt.Sprintf("%s%s %x", creationMark, w.ReferenceID, sum[:8]))))
}

// creationMark begins the audit log's name of a new intent; no id holds a space.
const creationMark = "new "

// Create creates an intent with the care of [Guard.Confirm]: it records the request before it sends it, and sends
// it once. With a reference, it does not send while the audit log or the service's list has an equal intent that
// no read shows to have failed, or while an earlier attempt has no known outcome, unless [Creation.Again] is set; reads
// of the list settle a lost answer.
func (g *Guard) Create(ctx context.Context, maker Maker, c Creation, progress func(Progress)) Outcome {
	if progress == nil {
		progress = func(Progress) {}
	}
	attempt := newAttempt()
	m := &creating{guard: g, maker: maker, wanted: c, subject: c.subject(attempt), report: progress}
	if !g.begin(m.subject.intent) {
		return Outcome{Verdict: NotSent, Err: errors.New("it is already under way")}
	}
	defer g.end(m.subject.intent)
	for try := 1; ; try++ {
		mark, out := m.prepare(ctx)
		switch {
		case out != nil:
			return *out
		case c.Why != nil:
			return Outcome{Verdict: NotSent, Err: c.Why}
		}
		w := c.Wanted
		m.line = Line{
			At: time.Now().UTC(), Date: m.date, Attempt: attempt, Environment: c.Environment, Intent: m.subject.intent, Stage: Sending,
			Product: api.MaskAddress(w.ProductURL), Merchant: w.Merchant(), Quantity: w.Quantity, Total: c.Most,
		}
		err := g.audit.begin(&m.line, mark)
		if err == nil {
			break
		}
		if !errors.Is(err, errMeanwhile) || try == races {
			return *g.without(m.subject, nil, NotSent, err)
		}
	}
	sent := m.send(ctx)
	sent.Attempt = attempt
	sent.Unsettled = errors.Is(sent.Err, errSettled)
	detail := string(sent.Verdict)
	if sent.Intent != nil {
		detail += ": " + string(sent.Intent.ID)
	} else if sent.Err != nil {
		detail += ": " + sent.Err.Error()
	}
	if err := g.audit.conclude(m.subject, m.line.is, sent, string(api.Scrub(detail))); err != nil {
		sent.Err = both(sent.Err, unrecorded(err))
	}
	return sent
}

// lost lists the creations of the last day that have no known outcome.
func (g *Guard) lost() (all []string) {
	for _, line := range g.creations() {
		if time.Since(line.At) > gapsMatterFor {
			continue
		}
		text := fmt.Sprintf("the outcome of %d × %s, sent at %s, is unknown", line.Quantity, line.Product, localTime(line.At))
		if reference := line.Reference(); reference != "" {
			text += fmt.Sprintf(": run tillwatch order %s to find out", reference)
		}
		all = append(all, text)
	}
	return all
}

// creating is one creation.
type creating struct {
	guard   *Guard
	maker   Maker
	wanted  Creation
	subject subject
	line    Line
	other   *api.Intent // on the list: another intent with the reference
	date    time.Time   // when the list was read, by the service's clock; zero if that is not known
	report  func(Progress)
}

// prepare looks for an earlier creation. It returns the audit log's mark from before it looked, or how the
// creation ended if nothing is to be sent.
func (m *creating) prepare(ctx context.Context) (mark int64, ended *Outcome) {
	g := m.guard
	for again := false; ; again = true {
		mark, err := g.audit.mark(m.subject)
		if err != nil {
			return 0, unlogged(err)
		}
		if m.wanted.Wanted.ReferenceID == "" {
			return mark, nil
		}
		if ended := m.recorded(ctx); ended != nil {
			return 0, ended
		}
		open, err := g.audit.openOf(m.subject)
		if err != nil {
			return 0, unlogged(err)
		}
		asked := time.Now()
		made, whole, err := m.find(ctx)
		now := api.Response{Sent: asked, Date: m.date}
		switch {
		case made != nil:
			err = g.audit.conclude(m.subject, allOpen, Outcome{Verdict: Accepted}, string(made.ID))
			return 0, &Outcome{Verdict: Already, Intent: made, Err: err}
		case err != nil && !errors.Is(err, api.ErrNotServed):
			return 0, g.without(m.subject, nil, NotSent, fmt.Errorf("looking for an earlier creation: %w", err))
		}
		if ended := m.used(ctx); ended != nil {
			return 0, ended
		}
		switch {
		case len(open) == 0:
			return mark, nil
		case m.wanted.Again:
			if err := g.drop(open); err != nil {
				return 0, &Outcome{Verdict: NotSent, Unsettled: true, Err: err}
			}
			continue
		case !whole, !open[len(open)-1].old(now):
			return 0, g.without(m.subject, nil, NotSent, nil)
		case again:
			err = g.audit.notTaken(m.subject, func(l Line) bool { return l.old(now) })
		default:
			err = api.Sleep(ctx, settleGap)
		}
		if err != nil {
			return 0, g.without(m.subject, nil, NotSent, err)
		}
	}
}

// recorded ends the creation if the audit log says what an equal one made, unless a read shows that it failed. It
// does not need the service's list, which may be missing or late.
func (m *creating) recorded(ctx context.Context) *Outcome {
	id, err := m.guard.audit.madeOf(m.subject)
	switch {
	case err != nil:
		return unlogged(err)
	case id == "":
		return nil
	}
	in, err := m.read(ctx, id)
	if err != nil {
		in = m.wanted.Wanted
		in.ID, in.State = id, ""
	}
	if in.State == api.Failed {
		return nil
	}
	return &Outcome{Verdict: Already, Intent: &in, Err: err}
}

// read reads an intent in the environment where it was created.
func (m *creating) read(ctx context.Context, id api.ID) (api.Intent, error) {
	in, err := m.maker.Intent(ctx, id)
	if err == nil && (in.ID != id || in.Response.From.StandIn != m.subject.standIn) {
		err = errors.New("another environment answers")
	}
	return in, err
}

// used ends the creation if its reference belongs to another intent, unless that failed or this is one more item
// of the same order.
func (m *creating) used(ctx context.Context) *Outcome {
	if m.wanted.Another {
		return nil
	}
	made, open, err := m.guard.audit.sharingOf(m.subject)
	switch {
	case err != nil:
		return unlogged(err)
	case len(open) > 0:
		return &Outcome{Verdict: NotSent, Unsettled: true, Err: both(ErrUsed, &UnsettledError{open[0]})}
	}
	for _, id := range made {
		in, err := m.read(ctx, id)
		if err != nil {
			in = api.Intent{ID: id, ReferenceID: m.wanted.Wanted.ReferenceID}
		}
		if in.State != api.Failed {
			return &Outcome{Verdict: Already, Intent: &in, Err: both(ErrUsed, err)}
		}
	}
	if m.other != nil {
		return &Outcome{Verdict: Already, Intent: m.other, Err: ErrUsed}
	}
	return nil
}

func (m *creating) send(ctx context.Context) Outcome {
	m.report(Progress{Stage: Sending})
	bounded, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	body := m.wanted.Body
	body.Departure = m.guard.audit.departure(m.line)
	post := m.maker.CreateIntent
	if m.wanted.Purchase {
		post = m.maker.Purchase
	}
	answer, err := post(bounded, body)
	switch refused := new(*api.Error); {
	case err == nil && answer.Response.From.StandIn != m.subject.standIn:
		return m.settle(ctx, errElsewhere)
	case err == nil:
		return Outcome{Verdict: Accepted, Intent: &answer}
	case api.IsUnknownOutcome(err):
		return m.settle(ctx, err)
	case !errors.As(err, refused):
		return Outcome{Verdict: NotSent, Err: err}
	case errors.Is(err, api.ErrRateLimited), errors.Is(err, api.ErrConflict):
		// A request that was doubled on its way may have been taken before it was refused.
		return m.settle(ctx, err)
	}
	return m.look(ctx, err)
}

// look reads the list once after a refusal for what the request says. Of two equal requests the service refuses both,
// unless it refuses the second because it took the first: then the list has that.
func (m *creating) look(ctx context.Context, refusal error) Outcome {
	if m.wanted.Wanted.ReferenceID != "" {
		if made, _, err := m.find(ctx); err == nil && made != nil {
			return Outcome{Verdict: Overtaken, Intent: made, Err: refusal}
		}
	}
	return Outcome{Verdict: Refused, Err: refusal}
}

// settle reads the list of intents until it shows the new one. A refusal counts if the service has no list, or once
// the whole list has lacked it for as long as a request can be held on its way.
func (m *creating) settle(ctx context.Context, cause error) Outcome {
	out := Outcome{Verdict: Unknown, Err: cause}
	if !leavesOpen(cause) {
		out.Verdict = Refused
	}
	if m.wanted.Wanted.ReferenceID == "" {
		return out
	}
	over := time.Now().Add(settleFor)
	reading, stop := context.WithDeadline(ctx, over.Add(settleGrace))
	defer stop()
	m.report(Progress{Stage: Settling, Why: cause, By: over, Until: over.Add(settleGrace)})
	for step := growing(firstSettleRead, lastSettleRead); ; {
		asked := time.Now()
		made, whole, err := m.find(reading)
		switch {
		case made != nil && out.Verdict == Refused:
			return Outcome{Verdict: Overtaken, Intent: made, Err: cause}
		case made != nil:
			return Outcome{Verdict: Accepted, Intent: made}
		case errors.Is(err, api.ErrNotServed):
			return out
		case err == nil && whole && !asked.Before(over):
			if m.other != nil && !m.wanted.Another { // it was not there before: the service may write the product in another way
				out.Verdict = Unknown
			}
			return out
		}
		if api.Sleep(reading, pause(step, over)) != nil {
			out.Verdict = Unknown
			return out
		}
	}
}

// find looks for the new intent in the list. whole reports whether it saw every candidate.
func (m *creating) find(ctx context.Context) (made *api.Intent, whole bool, err error) {
	w := m.wanted.Wanted
	m.other, m.date = nil, time.Time{}
	return find(ctx, m.maker, func(in *api.Intent) bool {
		same := in.ProductURL == w.ProductURL && (in.Quantity == 0 || in.Quantity == w.Quantity) && (len(w.Variants) == 0 || variant(in.Variants) == variant(w.Variants))
		m.date = in.Response.Date
		switch {
		case !api.SameReference(in.ReferenceID, w.ReferenceID):
			return false
		case !same && in.State != api.Failed:
			m.other = new(*in)
		}
		return same && (in.State != api.Failed || !m.line.At.IsZero() && m.line.before(in))
	})
}
