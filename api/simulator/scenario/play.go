package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// Done describes a step that has ended.
type Done struct {
	Line   int             `json:"line"`
	Step   string          `json:"step"`             // what it did, with the scenario's names
	Reason api.FailureCode `json:"reason,omitempty"` // of the round; "" if there is only one round
	Intent api.ID          `json:"intent,omitempty"` // the intent that it was about; "" if none
	Took   time.Duration   `json:"-"`
	Err    error           `json:"-"` // nil: it succeeded
}

// player plays one round of a scenario.
type player struct {
	client   *api.Client
	scenario *Scenario
	reason   api.FailureCode
	intents  map[string]api.ID // by their names in the scenario
}

// Play plays the scenario and calls ended after each step unless it is nil. It stops at
// the first step that fails. If no stand-in answers, it plays nothing and returns
// [api.ErrNotStandIn].
func (s *Scenario) Play(ctx context.Context, client *api.Client, ended func(Done)) error {
	if err := client.Control(ctx, http.MethodGet, "/control/state", nil, nil); err != nil {
		return fmt.Errorf("playing %s: %w", s.Name, err)
	}
	rounds := s.Reasons
	if len(rounds) == 0 {
		rounds = []api.FailureCode{""}
	} else if slices.Contains(rounds, allOf) {
		rounds = simulator.FailureCodes()
	}
	for _, reason := range rounds {
		p := &player{client, s, reason, map[string]api.ID{}}
		for i := range s.Steps {
			done := p.play(ctx, &s.Steps[i])
			if ended != nil {
				ended(done)
			}
			if done.Err != nil {
				return fmt.Errorf("%s:%d: %s: %w", s.file, done.Line, done.Step, done.Err)
			}
		}
	}
	return nil
}

func (p *player) play(ctx context.Context, step *Step) Done {
	began := time.Now()
	done := Done{Line: step.Line, Reason: p.reason}
	about := ""
	switch {
	case step.Create != "":
		about, done.Step = step.Create, "create "+step.Create
		done.Err = p.create(ctx, step)
	case step.Wait != "":
		about = step.Wait
		done.Step = fmt.Sprintf("wait until %s is %s", step.Wait, step.State)
		if step.Event != "" {
			done.Step = fmt.Sprintf("wait for %s of %s", step.Event, step.Wait)
		}
		done.Err = p.wait(ctx, step)
	case step.Confirm != "":
		about, done.Step = step.Confirm, "confirm "+step.Confirm
		if step.Times > 1 {
			done.Step += fmt.Sprintf(", %d times", step.Times)
		}
		done.Err = p.confirm(ctx, step)
	case step.Fail != "":
		about, done.Step = step.Fail, fmt.Sprintf("fail %s: %s", step.Fail, p.text(step.Reason))
		done.Err = p.post(ctx, p.path(step.Fail)+"/fail", map[string]any{"failure": p.text(step.Reason)}, nil)
	case step.Expire != "":
		about, done.Step = step.Expire, "expire "+step.Expire
		done.Err = p.post(ctx, p.path(step.Expire)+"/fail", map[string]any{"failure": api.Expired}, nil)
	case step.Trigger != "":
		about, done.Step = step.Of, "trigger "+string(step.Trigger)+of(step.Of)
		done.Err = p.trigger(ctx, step)
	case step.Pause != 0:
		done.Step = "pause " + time.Duration(step.Pause).String()
		done.Err = api.Sleep(ctx, time.Duration(step.Pause))
	default:
		about, done.Step, done.Err = p.fault(ctx, step)
	}
	done.Intent, done.Took = p.intents[about], time.Since(began)
	return done
}

func of(name string) string {
	if name == "" {
		return ""
	}
	return " of " + name
}

// text replaces {reason} in a text of a step with the reason of this round.
func (p *player) text(s string) string { return strings.ReplaceAll(s, theReason, string(p.reason)) }

func (p *player) path(name string) string { return "/control/intents/" + string(p.intents[name]) }

func (p *player) post(ctx context.Context, path string, body, into any) error {
	return p.client.Control(ctx, http.MethodPost, path, body, into)
}

// create creates an intent. The seed decides what the step leaves open.
func (p *player) create(ctx context.Context, step *Step) error {
	reference := cmp.Or(p.text(step.Reference), strings.TrimSuffix(p.scenario.Name+"-"+step.Create+"-"+string(p.reason), "-"))
	var made struct {
		ID string `json:"id"`
	}
	err := p.post(ctx, "/control/intents", map[string]any{
		"productUrl": p.text(step.Product), "quantity": step.Quantity, "referenceId": reference, "failure": p.text(step.Reason), "purchase": step.Purchase,
		"offerAfter": step.OfferAfter.seconds(), "placingAfter": step.PlacingAfter.seconds(), "confirmAfter": step.ConfirmAfter.seconds(),
		"seed": p.scenario.Seed + uint64(len(p.intents)),
	}, &made)
	p.intents[step.Create] = api.ScrubID(made.ID)
	return err
}

func (p *player) trigger(ctx context.Context, step *Step) error {
	return p.post(ctx, "/control/events", map[string]any{
		"type": step.Trigger, "source": p.intents[step.Of], "productUrl": p.text(step.Product), "failure": p.text(step.Reason),
		"price": step.Price, "availability": step.Availability,
	}, nil)
}

// fault makes the delivery of future events go wrong.
func (p *player) fault(ctx context.Context, step *Step) (about, what string, err error) {
	do, pattern, by := "lose", step.Lose, step.By
	switch {
	case step.Double != "":
		do, pattern = "double", step.Double
	case step.Delay != "":
		do, pattern = "late", step.Delay
	case step.Reorder != "":
		do, pattern, by = "reorder", step.Reorder, cmp.Or(by, span(5*time.Minute))
	}
	source := p.intents[step.Of]
	if !strings.HasPrefix(pattern, string(api.SourceIntent)) {
		source = "" // a parcel has no id yet
	}
	what = do + " " + pattern + of(step.Of)
	order := map[string]any{"type": pattern, "source": source, "do": do, "count": cmp.Or(step.Count, 1)}
	if by > 0 {
		order["lateBy"] = by.seconds()
	}
	return step.Of, what, p.post(ctx, "/control/event-faults", order, nil)
}

// confirm submits an intent for purchase, as often as the step says: repetitions may be
// refused. A request that exceeded the rate limit had no effect and is sent again.
func (p *player) confirm(ctx context.Context, step *Step) error {
	for n := range max(1, step.Times) {
		for {
			_, err := p.client.ConfirmIntent(ctx, p.intents[step.Confirm], api.ConfirmIntent{StandIn: true})
			if errors.Is(err, api.ErrPerSecond) && api.Sleep(ctx, time.Second) == nil {
				continue
			}
			refused := errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrConflict)
			if err != nil && (n == 0 || !refused) {
				return err
			}
			break
		}
	}
	return nil
}
