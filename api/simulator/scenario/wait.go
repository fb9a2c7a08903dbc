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
)

const (
	lookAgain     = 50 * time.Millisecond
	usualPatience = time.Minute
)

// file is what the stand-in knows about an intent.
type file struct {
	Intent struct {
		State         api.IntentState                `json:"state"`
		FailureReason struct{ Code api.FailureCode } `json:"failureReason"`
	} `json:"intent"`
	Orders int                            `json:"orders"`
	Events []struct{ Type api.EventType } `json:"events"`
}

// wait waits until an intent is as the step says. It fails at once if that can no longer
// happen.
func (p *player) wait(ctx context.Context, step *Step) error {
	patience := cmp.Or(time.Duration(step.Within), usualPatience)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var f file
	for {
		var now file
		err := p.client.Control(limited, http.MethodGet, p.path(step.Wait), nil, &now)
		if err == nil {
			f = now
			var reached bool
			if reached, err = f.reached(step, p.text(step.Reason)); reached || err != nil {
				return err
			}
			err = api.Sleep(limited, lookAgain)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(limited.Err(), context.DeadlineExceeded):
			return fmt.Errorf("it is %s after %s", cmp.Or(f.Intent.State, "unread"), patience)
		case err != nil:
			return err
		}
	}
}

// reached reports whether an intent is, or has been, as a step wants it. An error says
// why it never will be.
func (f file) reached(step *Step, reason string) (bool, error) {
	in := f.Intent
	ended := in.State.Terminal()
	outcome := strings.TrimSuffix(fmt.Sprintf("%s %s", in.State, in.FailureReason.Code), " ")
	if step.Event != "" {
		happened := slices.ContainsFunc(f.Events, func(e struct{ Type api.EventType }) bool { return e.Type == step.Event })
		ofIntent := strings.HasPrefix(string(step.Event), string(api.SourceIntent)+".")
		if !happened && (ended && ofIntent || in.State == api.Failed) {
			return false, fmt.Errorf("it can no longer happen: the intent is %s", outcome)
		}
		if !happened || step.State == "" {
			return happened, nil
		}
	}
	reached := in.State == step.State || !step.State.Terminal() && in.State != api.Failed && in.State.Rank() > step.State.Rank()
	switch {
	case !reached && ended:
		return false, fmt.Errorf("it can no longer be: the intent is %s", outcome)
	case !reached:
		return false, nil
	case reason != "" && string(in.FailureReason.Code) != reason:
		return false, fmt.Errorf("the intent is %s, not for the reason %s", outcome, reason)
	case step.Orders != nil && f.Orders != *step.Orders:
		return false, fmt.Errorf("%d orders were placed for it, not %d", f.Orders, *step.Orders)
	}
	return true, nil
}
