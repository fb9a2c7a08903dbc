package confirm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// Sender sends a request once; [api.Client] is one.
type Sender interface {
	Send(ctx context.Context, r api.Request) (api.Answer, error)
}

// Order is a purchase in one step that a person approved.
type Order struct {
	Environment string
	Reference   api.Text // the person's own id of it, which names it in the audit log; required
	Product     api.Text // its URL
	Quantity    int
	Most        string      // the most it may cost, for the audit log; "" for no limit
	Request     api.Request // sent as it is, with an idempotency key of the reference
	Again       bool        // although one of the reference was made, or may have been: it may be bought twice
}

// ReadPurchase reads what the body of a request orders.
func ReadPurchase(body []byte) Order {
	// Decoded like an answer, so that a reference is written as an answer's is.
	in, err := api.DecodeIntent(append([]byte(`{"id":"new",`), strings.TrimPrefix(string(body), "{")...))
	if err != nil {
		return Order{}
	}
	o := Order{Reference: in.ReferenceID, Product: in.ProductURL, Quantity: in.Quantity}
	if c := in.Constraints; c != nil && c.MaxTotalPrice != nil {
		o.Most = fmt.Sprintf("at most %d subunits", *c.MaxTotalPrice)
	}
	return o
}

// orderMark begins the audit log's name of an order; no id holds a space.
const orderMark = "new "

// isNew reports whether a line is about an order in one step, whose intent has no id yet.
func isNew(id api.ID) bool { return strings.HasPrefix(string(id), orderMark) }

// Reference is the reference of an order in one step; "" for other lines.
func (l Line) Reference() api.Text {
	if !isNew(l.Intent) {
		return ""
	}
	return api.Scrub(strings.TrimPrefix(string(l.Intent), orderMark))
}

// Purchase records the order, sends it once, and records how it ended. While the audit log has an order of the
// reference that was made, or whose outcome is not known, it sends nothing, unless [Order.Again] is set.
func (g *Guard) Purchase(ctx context.Context, to Sender, o Order) (api.Answer, Outcome) {
	var none api.Answer
	s := subjectOf(o.Environment, api.ScrubID(orderMark+string(o.Reference)))
	if o.Reference == "" {
		return none, Outcome{Verdict: NotSent, Err: errors.New("an order needs a reference")}
	}
	if !g.begin(s.intent) {
		return none, Outcome{Verdict: NotSent, Err: errors.New("it is already under way")}
	}
	defer g.end(s.intent)
	mark, err := g.audit.mark(s)
	if err == nil {
		err = g.admit(s, o.Again)
	}
	if err != nil {
		return none, unsent(err)
	}
	line := Line{
		At: time.Now().UTC(), Attempt: newAttempt(), Environment: o.Environment, Intent: s.intent, Stage: Sending,
		Product: api.MaskAddress(o.Product), Quantity: o.Quantity, Total: o.Most,
	}
	if o.Again { // what closed the earlier ones is newer than the mark
		mark, err = g.audit.mark(s)
	}
	if err == nil {
		err = g.audit.begin(&line, mark)
	}
	if err != nil {
		return none, unsent(err)
	}
	answer, out := g.order(ctx, to, o, line)
	out.Attempt = line.Attempt
	detail := string(out.Verdict)
	if out.Intent != nil {
		detail += ": " + string(out.Intent.ID)
	} else if out.Err != nil {
		detail += ": " + out.Err.Error()
	}
	if err := g.audit.conclude(s, line.is, out, string(api.Scrub(detail))); err != nil {
		out.Err = both(out.Err, unrecorded(err))
	}
	return answer, out
}

// errBought says that an order of the reference was made.
var errBought = errors.New("this reference has bought")

// admit refuses an order whose reference was used, unless it is to be sent again: then it records that the outcomes of
// the earlier ones will never be known, once none of them can be on its way any more.
func (g *Guard) admit(s subject, again bool) error {
	if again {
		open, err := g.audit.openOf(s)
		for _, l := range open {
			if over := l.At.Add(settleFor + settleGrace); err == nil && time.Now().Before(over) {
				err = fmt.Errorf("the same request may still be on its way: wait until %s", localTime(over))
			}
			if err == nil {
				err = g.audit.add(l.verdict(Closed, "its outcome is not known"))
			}
		}
		return err
	}
	made, err := g.audit.madeOf(s)
	if err == nil && made != "" {
		return fmt.Errorf("%w: %s", errBought, made)
	}
	return err
}

// unsent is the outcome of an order that was not sent. Unless the log names what its reference bought, nothing is known
// of earlier ones.
func unsent(why error) Outcome {
	if errors.Is(why, errBought) {
		return Outcome{Verdict: Already, Err: why}
	}
	return Outcome{Verdict: NotSent, Unsettled: true, Err: why}
}

// order sends the request.
func (g *Guard) order(ctx context.Context, to Sender, o Order, line Line) (api.Answer, Outcome) {
	bounded, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	r := o.Request
	// A service may answer a key as before even where that was a refusal: a settled attempt that bought nothing gives
	// the next one another key.
	key := sha256.Sum256([]byte(string(o.Reference) + line.After))
	r.Header = r.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Idempotency-Key", "order-"+hex.EncodeToString(key[:16]))
	r.Departure = g.audit.departure(line)
	answer, err := to.Send(bounded, r)
	if err == nil {
		var in api.Intent
		if in, err = api.DecodeIntent(answer.Shown(true)); err == nil {
			switch {
			case answer.From.StandIn != isStandIn(o.Environment):
				err = errElsewhere
			case in.ReferenceID != "" && !api.SameReference(in.ReferenceID, o.Reference):
				err = errors.New("the answer is about another order")
			default:
				return answer, Outcome{Verdict: Accepted, Intent: &in}
			}
		}
		return answer, Outcome{Verdict: Unknown, Err: err}
	}
	verdict := NotSent
	switch {
	case api.IsUnknownOutcome(err), errors.Is(err, api.ErrConflict): // an earlier request with the key may go on
		verdict = Unknown
	case errors.As(err, new(*api.Error)):
		verdict = Refused
	}
	return answer, Outcome{Verdict: verdict, Err: err, Unsettled: errors.Is(err, errSettled)}
}

// lost lists the orders of the last day whose outcome is not known.
func (g *Guard) lost() (all []string) {
	for _, l := range g.audit.unsettled() {
		here := isNew(l.Intent) && slices.Contains(g.cfg.Environments, l.Environment)
		if !here || time.Since(l.At) > gapsMatterFor {
			continue
		}
		all = append(all, fmt.Sprintf("the outcome of %d × %s, sent at %s, is unknown: run tillwatch order %s to find out",
			l.Quantity, l.Product, localTime(l.At), l.Reference()))
	}
	return all
}
