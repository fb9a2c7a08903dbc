package account

import (
	"testing"
	"time"

	"tillwatch/api"
)

func TestAnEventIsMissedOnceItIsOverdueAndNoLongerWhenItComes(t *testing.T) {
	feed, counters := following{FeedStatus: FeedStatus{State: FeedLive, Since: noon}, heard: noon}, EventCounters{}
	m := newMissing(&feed, &counters, api.ConfirmWindow, time.Minute)
	in := &IntentDetail{Intent: Intent{ID: "ci_1", State: api.Completed, CreatedAt: noon}}
	count := func(after time.Duration) (missed []api.IntentState) {
		m.count(noon.Add(after), noon, func(_ api.ID, to api.IntentState) { missed = append(missed, to) }, nil)
		return missed
	}
	m.expect(in, api.PlacingOrder, noon.Add(time.Minute))
	if missed := count(90 * time.Second); len(missed) != 0 {
		t.Errorf("too soon: %v", missed)
	}
	if missed := count(2 * time.Minute); len(missed) != 1 || missed[0] != api.Completed || counters.Missed != 1 || m.silence.lasts(noon) != 1 {
		t.Errorf("overdue: %v, %+v", missed, counters)
	}
	if missed := count(3 * time.Minute); len(missed) != 0 {
		t.Errorf("counted again: %v", missed)
	}
	m.arrived("ci_1", api.IntentCompleted)
	if counters.Missed != 0 || len(m.intents) != 0 {
		t.Errorf("once it has come: %+v, %v", counters, m.intents)
	}
}

func TestNoEventIsExpectedOfWhatHasNone(t *testing.T) {
	cases := []struct {
		name string
		feed FeedState
		in   IntentDetail
		from api.IntentState
		want bool
	}{
		{"a completion", FeedLive, IntentDetail{Intent: Intent{State: api.Completed}}, api.PlacingOrder, true},
		{"without a feed", FeedOff, IntentDetail{Intent: Intent{State: api.Completed}}, api.PlacingOrder, false},
		{"a completion whose event came", FeedLive, IntentDetail{Intent: Intent{State: api.Completed}, basis: basis{seen: sawCompleted}}, api.PlacingOrder, false},
		{"a confirm", FeedLive, IntentDetail{Intent: Intent{State: api.PlacingOrder}}, api.AwaitingConfirmation, false},
		{"an expiry by its code", FeedLive, IntentDetail{Intent: Intent{State: api.Failed, Failure: &api.FailureReason{Code: api.Expired}}}, api.AwaitingConfirmation, false},
		{"an expiry by its time", FeedLive, IntentDetail{Intent: Intent{State: api.Failed, CreatedAt: noon.Add(-time.Hour)}}, api.AwaitingConfirmation, false},
		{"a failed order", FeedLive, IntentDetail{Intent: Intent{State: api.Failed, CreatedAt: noon.Add(-time.Hour)}}, api.PlacingOrder, true},
		{"what happened before the feed was heard", FeedLive, IntentDetail{Intent: Intent{State: api.Completed, CreatedAt: noon.Add(-time.Hour)}}, "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			feed := following{FeedStatus: FeedStatus{State: c.feed}, heard: noon.Add(-time.Minute)}
			m := newMissing(&feed, &EventCounters{}, api.ConfirmWindow, time.Minute)
			if m.expect(&c.in, c.from, noon); (len(m.intents) == 1) != c.want {
				t.Errorf("expected: %v, want %t", m.intents, c.want)
			}
		})
	}
}
