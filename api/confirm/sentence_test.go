package confirm_test

import (
	"errors"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

func TestAnOutcomeIsSaidInOneSentence(t *testing.T) {
	in := func(s api.IntentState) *api.Intent { return &api.Intent{ID: id, State: s} }
	timeout := errors.New("no answer")
	cases := []struct {
		name    string
		outcome confirm.Outcome
		want    string
	}{
		{"accepted", confirm.Outcome{Verdict: confirm.Accepted, Intent: in(api.PlacingOrder)}, "confirmed: the intent is now placing order"},
		{"accepted, and not read since", confirm.Outcome{Verdict: confirm.Accepted}, "confirmed: the service accepted it"},
		{"accepted, and its order failed", confirm.Outcome{Verdict: confirm.Accepted, Intent: in(api.Failed)}, "confirmed, but the order failed"},
		{"changed", confirm.Outcome{Verdict: confirm.Changed, Differences: []confirm.Difference{{What: "total", Seen: "1.00 USD", Now: "2.00 USD"}}},
			"nothing was sent: the intent changed since you looked (total was 1.00 USD, is 2.00 USD)"},
		{"expired", confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: in(api.Failed)}, "not confirmed: the intent has failed"},
		{"a conflict", confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: in(api.AwaitingConfirmation), Err: timeout},
			"not confirmed: the service says that it cannot be confirmed now: no answer"},
		{"already", confirm.Outcome{Verdict: confirm.Already, Intent: in(api.Completed)}, "already confirmed: the intent is completed, and nothing was sent"},
		{"overtaken", confirm.Outcome{Verdict: confirm.Overtaken, Intent: in(api.PlacingOrder)},
			"already confirmed, by another client or by this request doubled on its way: the intent is now placing order"},
		{"refused", confirm.Outcome{Verdict: confirm.Refused, Err: timeout}, "not confirmed: the service refused it, and nothing was placed: no answer"},
		{"unknown", confirm.Outcome{Verdict: confirm.Unknown, Err: timeout}, "outcome unknown: it may have been placed: no answer"},
		{"without a state", confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: in("")}, "nothing was sent: the service does not say in which state the intent is"},
		{"not sent", confirm.Outcome{Verdict: confirm.NotSent, Err: timeout}, "not confirmed: nothing was sent: no answer"},
		{"an earlier one is open", confirm.Outcome{Verdict: confirm.NotSent, Unsettled: true, Err: timeout}, "nothing was sent this time: no answer"},
		{"an earlier one is open, for an unknown reason", confirm.Outcome{Verdict: confirm.NotSent, Unsettled: true},
			"nothing was sent: the outcome of an earlier confirm is not known yet"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.outcome.String(); got != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

func TestNobodyIsAdvisedToTryAgainWhatMayHaveBeenPlaced(t *testing.T) {
	for _, verdict := range []confirm.Verdict{confirm.Accepted, confirm.Overtaken, confirm.Already, confirm.Unknown} {
		if got := (confirm.Outcome{Verdict: verdict}).Advice(); got == (confirm.Outcome{Verdict: confirm.NotSent}).Advice() {
			t.Errorf("%s: %q", verdict, got)
		}
	}
	completed := api.Intent{ID: id, State: api.Completed, OrderIDs: []api.Text{"SL-1", "SL-2"}}
	unpaid := &api.Error{Status: 422, Fields: []api.FieldError{{Field: "body.paymentMethod", Message: "'paymentMethod' is required"}}}
	if got := (confirm.Outcome{Verdict: confirm.Refused, Err: unpaid}).Advice(); !strings.Contains(got, "confirm_body") {
		t.Errorf("without a payment it advises %q", got)
	}
	if got := (confirm.Outcome{Verdict: confirm.Refused, Err: &api.Error{Status: 429}}).Advice(); got != "Try again once the limit allows it." {
		t.Errorf("at a limit it advises %q", got)
	}
	if got := (confirm.Outcome{Verdict: confirm.Accepted, Intent: &completed}).Advice(); got != "The order is placed: SL-1, SL-2." {
		t.Error(got)
	}
}
