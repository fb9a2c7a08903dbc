package command

import (
	"strings"
	"testing"
)

func TestWaitRefusesWhatMeansNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, says string }{
		{"nothing", "", "for what?"},
		{"no subject", "intnt:ci_1 state=completed", "did you mean intent?"},
		{"an order", "order:o-7 state=completed", "cannot be waited for"},
		{"an intent without its id", "intent state=completed", "write intent:ID"},
		{"an event with a colon", "event:evt_1", "without a colon"},
		{"a path for an id", "intent:../x", "looks like a path"},
		{"no such state", "intent:ci_1 state=complete", "did you mean completed?"},
		{"no such type", "event type=checkout_intent.complete", "did you mean checkout_intent.completed?"},
		{"no such name", "intent:ci_1 stat=completed", "did you mean state?"},
		{"a word", "intent:ci_1 completed", "write name=value"},
		{"no value", "intent:ci_1 state=", "write name=value"},
		{"a value too few", "intent:ci_1 state=failed,", "there is no state"},
		{"terms of the relay", "relay state=live", "relay has no"},
		{"any event", "event", "which event?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parseCondition(strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}
