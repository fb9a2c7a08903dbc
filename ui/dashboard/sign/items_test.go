package sign

import (
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestTheItemsOfAnOrderAreCountedByState(t *testing.T) {
	for _, c := range []struct {
		states []api.IntentState
		want   string
	}{
		{[]api.IntentState{api.Completed}, "1 item: 1 completed"},
		{[]api.IntentState{api.Failed, api.AwaitingConfirmation, api.AwaitingConfirmation}, "3 items: 2 awaiting, 1 failed"},
		{[]api.IntentState{"returned", "", api.Completed, "paused"}, "4 items: 1 completed, 1 unknown, 1 paused, 1 returned"},
	} {
		var items []*account.Intent
		for _, state := range c.states {
			items = append(items, &account.Intent{State: state})
		}
		if got := Items(account.NewOrder("order-7", items)); got != c.want {
			t.Errorf("items of %q: %q, not %q", c.states, got, c.want)
		}
	}
}
