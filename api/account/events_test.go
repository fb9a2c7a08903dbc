package account

import (
	"fmt"
	"testing"

	"tillwatch/api"
)

func TestAnEventThatIsRepeatedWithAnotherSourceKeepsItsOwn(t *testing.T) {
	r := NewReplica()
	r.Apply([]*Frame{{Events: []*Event{{ID: "evt_0", SourceID: "ci_1"}, {ID: "evt_1", SourceID: "ci_1"}}}})
	r.Apply([]*Frame{{Events: []*Event{{ID: "evt_0", SourceID: "ci_2", Origin: "backfill"}}}})
	if e := r.events.get("evt_0"); e.SourceID != "ci_1" || e.Origin != "backfill" {
		t.Errorf("it became %+v", e)
	}
	for i := range r.events.keep {
		r.Apply([]*Frame{{Events: []*Event{{ID: api.ID(fmt.Sprint("evt_", 2+i)), SourceID: "ci_3"}}}})
	}
	if of := r.events.bySource; len(of) != 1 || len(of["ci_3"]) != r.events.keep {
		t.Errorf("events of %d sources are listed, %d of the last", len(of), len(of["ci_3"]))
	}
}
