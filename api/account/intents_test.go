package account

import (
	"testing"

	"tillwatch/api"
)

// someIntents are none yet, as a store keeps them.
func someIntents(cfg StoreConfig) *intents {
	cfg = cfg.withDefaults()
	t := newIntents(&news{}, &cfg)
	return &t
}

func TestIntentsAreUnreadUntilAReadShowsThem(t *testing.T) {
	all := someIntents(StoreConfig{KeepIntents: 16})
	tell := func(want int, when string) {
		t.Helper()
		if all.unread != want {
			t.Errorf("%s: %d are unread, want %d", when, all.unread, want)
		}
	}
	all.event(all.edit("ci_1"), &Event{ID: "evt_1", Type: api.IntentCompleted, CreatedAt: noon}, true, noon)
	all.edit("ci_2")
	tell(2, "known from an event and by its id")
	for range 2 {
		all.read(&api.Intent{ID: "ci_1", State: api.Completed, CreatedAt: noon}, noon, noon, ByRead)
		tell(1, "read")
	}
	all.restore(&IntentDetail{Intent: Intent{ID: "ci_3", State: api.Completed}}, intentMemory{}, noon)
	tell(2, "known to an earlier run from an event")
	all.restore(&IntentDetail{Intent: Intent{ID: "ci_4", State: api.Completed, ReadAt: noon}}, intentMemory{}, noon)
	tell(2, "read by an earlier run")
	all.letGoOf(all.get("ci_3"))
	all.letGoOf(all.get("ci_4"))
	tell(1, "let go")
}
