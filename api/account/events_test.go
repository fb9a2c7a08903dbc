package account

import (
	"fmt"
	"testing"

	"tillwatch/api"
)

func TestADeliveryIsNewOnceAndCountsAsADuplicateAfterThat(t *testing.T) {
	cases := []struct {
		name      string
		first     Delivery
		again     Delivery
		epoch     int // of the journal that delivers it again
		duplicate int
	}{
		{"the same place in the same journal", Delivery{Seq: 1}, Delivery{Seq: 1}, 0, 0},
		{"another place in the same journal", Delivery{Seq: 1}, Delivery{Seq: 2}, 0, 1},
		{"another journal", Delivery{Seq: 1}, Delivery{Seq: 7}, 1, 0},
		{"another journal that got it twice", Delivery{Seq: 1}, Delivery{Seq: 7, Duplicates: 1}, 1, 1},
		{"the relay got it again", Delivery{Seq: 1, Duplicates: 2}, Delivery{Seq: 1, Duplicates: 3}, 0, 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := newEvents(&news{}, 10)
			c.first.Event.ID, c.again.Event.ID = "evt_1", "evt_1"
			if l.take(&c.first, 0) == nil || l.take(&c.again, c.epoch) != nil {
				t.Fatal("it is not new once")
			}
			if l.Received != 1 || l.Duplicate != c.duplicate {
				t.Errorf("counted as %+v, want %d duplicates", l.EventCounters, c.duplicate)
			}
		})
	}
}

func TestTheNewestEventsAreKeptAndTheOthersCountedAsSkipped(t *testing.T) {
	n := &news{}
	l := newEvents(n, 3)
	for i := range 8 {
		l.take(&Delivery{Seq: int64(i), Event: api.Event{ID: api.ID(fmt.Sprint("evt_", i)), Source: api.EventSource{ID: "ci_1"}}}, 0)
		n.publish()
	}
	for _, c := range []struct {
		since         uint64
		kept, skipped int
	}{{0, 3, 5}, {2, 3, 3}, {6, 2, 0}, {8, 0, 0}} {
		if kept, skipped := l.since(c.since); len(kept) != c.kept || skipped != c.skipped {
			t.Errorf("since version %d: %d kept and %d skipped, want %d and %d", c.since, len(kept), skipped, c.kept, c.skipped)
		}
	}
	if len(l.of("ci_1")) != 3 {
		t.Errorf("%d events of the source, want 3", len(l.of("ci_1")))
	}
}

func TestAnEventThatWasHandedOutNeverChanges(t *testing.T) {
	n := &news{}
	l := newEvents(n, 3)
	before := l.take(&Delivery{Event: api.Event{ID: "evt_1", Source: api.EventSource{ID: "ci_1"}}}, 0)
	n.publish()
	l.name("ci_1", "Mug")
	if after := l.of("ci_1")[0]; before.Product != "" || after.Product != "Mug" || l.byID["evt_1"] != after {
		t.Errorf("handed out %+v, kept %+v", before, after)
	}
}

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
