package sign

import (
	"maps"
	"slices"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Items counts the items of an order by state: "3 items: 2 awaiting, 1 failed". States
// that the contract does not list come last.
func Items(o *account.Order) string {
	text := wording.Counted(len(o.Intents), "item", "items")
	between := ": "
	unlisted := slices.DeleteFunc(slices.Sorted(maps.Keys(o.Counts)), api.IntentState.Known)
	for _, state := range append(api.IntentStates(), unlisted...) {
		if n := o.Counts[state]; n > 0 {
			text += between + wording.Count(n) + " " + Intent(state).Word
			between = ", "
		}
	}
	return text
}
