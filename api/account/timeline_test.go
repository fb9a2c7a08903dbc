package account

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

// A timeline that is long forgets events and learns of others, of its own form of
// ids and of any other, while one looks for them.
func TestALongTimelineKnowsWhichEventsItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(StoreConfig{KeepEvents: 2})
		id := func(n int) api.ID {
			if n%3 == 0 {
				return api.ID(fmt.Sprint("evt_", n))
			}
			return api.ID(fmt.Sprint("evt_ci_1_", n))
		}
		s.know("ci_1", true)
		told, most := 0, rapid.IntRange(8, mostMoments+400).Draw(t, "events")
		for told < most {
			for range rapid.IntRange(100, 300).Draw(t, "more") {
				at := noon.Add(time.Duration(told*7919%5000) * time.Second)
				s.ApplyEvents([]Delivery{{Seq: int64(told), Received: at, Event: api.Event{
					ID: id(told), Type: api.OfferRetrieved, CreatedAt: at, Source: api.EventSource{ID: "ci_1", Type: api.SourceIntent},
				}}}, time.Now())

				told++
			}
			held := map[api.ID]bool{}
			for _, m := range s.intents.get("ci_1").Timeline {
				held[m.EventID] = true
			}
			for n := range told + 10 {
				if s.intents.get("ci_1").remembers(id(n)) != held[id(n)] {
					t.Fatalf("of %d events %s is found: %t", told, id(n), !held[id(n)])
				}
			}
		}
		if c := s.Summary().Events; c.Received != told || c.Duplicate != 0 {
			t.Fatalf("%+v, want %d received", c, told)
		}
	})
}
