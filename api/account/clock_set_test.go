package account

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// A read that is planned by the clock on the wall comes late by as much as that is set
// back, and all behind it in the queue with it.
func TestReadsArePlannedByTheClockThatNobodySets(t *testing.T) {
	s, now := NewStore(StoreConfig{}), time.Now() // in a bubble of synctest there is only one clock
	for id, state := range map[api.ID]api.IntentState{"ci_1": api.AwaitingConfirmation, "ci_2": api.Completed} {
		s.ApplyRead(api.Intent{ID: id, State: state, CreatedAt: utc(now), OrderIDs: []api.Text{"1"}}, now, ByRead)
	}
	s.ApplyShipments([]api.Shipment{{ID: "shp_1", Status: api.Shipped}}, now)
	w := NewWatcher(WatcherConfig{Store: s, Poll: 10 * time.Minute})
	w.feed = FeedLive
	w.replan(now)
	w.planIntent(s.intent("ci_2"), now)
	if len(w.queue.jobs) != 3 {
		t.Fatalf("%d reads are planned, want 3", len(w.queue.jobs))
	}
	for planned, j := range w.queue.jobs {
		if !strings.Contains(j.planned.String(), "m=") {
			t.Errorf("%v is due at %v, by the clock on the wall", planned, j.planned)
		}
	}
}

func TestAfterTheClockWasSetBackTheDayIsCountedAsBefore(t *testing.T) {
	s := NewStore(StoreConfig{})
	for _, id := range []api.ID{"ci_1", "ci_2", "ci_3"} {
		s.ApplyRead(api.Intent{ID: id, State: api.AwaitingConfirmation, CreatedAt: noon.Add(-time.Hour)}, noon, ByRead)
	}
	s.tick(noon.Add(3 * 24 * time.Hour))
	s.setBack(noon.Add(time.Minute))
	s.ApplyRead(api.Intent{ID: "ci_4", State: api.AwaitingConfirmation, CreatedAt: noon}, noon, ByRead)
	if n := s.intents.day.count(noon.Add(time.Minute)); n != 4 {
		t.Errorf("%d intents are counted in the day, want 4", n)
	}
}

func TestWhenTheLastEventCameIsNeverInTheFuture(t *testing.T) {
	received := func(seq int, at time.Time) []Delivery {
		d := intentEvent(seq, "ci_1", api.OfferRetrieved, at)
		d.Event.ID, d.Received = api.ID(strings.Repeat("e", seq)), at
		return []Delivery{d}
	}
	for name, before := range map[string]func(*Store){
		"the relay's clock was ahead":              func(s *Store) { s.ApplyEvents(received(1, noon.Add(72*time.Hour)), noon) },
		"both clocks were ahead in an earlier run": func(s *Store) { s.events.newest = noon.Add(72 * time.Hour) },
		"both clocks were ahead": func(s *Store) {
			s.ApplyEvents(received(1, noon.Add(72*time.Hour)), noon.Add(72*time.Hour))
			s.setBack(noon)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, now := NewStore(StoreConfig{}), noon.Add(time.Minute)
			before(s)
			s.ApplyEvents(received(2, now), now)
			if last := s.Summary().LastEvent; !last.Equal(now) {
				t.Errorf("the last event came at %v, want %v", last, now)
			}
		})
	}
}

func TestWhatWasReadByAClockAheadIsReadAgainInTime(t *testing.T) {
	s, ahead := NewStore(StoreConfig{}), noon.Add(72*time.Hour)
	s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation, CreatedAt: noon}, ahead, ByRead)
	s.ApplyShipments([]api.Shipment{{ID: "shp_1", Status: api.Shipped}}, ahead)
	now := noon.Add(time.Minute)
	s.setBack(now)
	rarely := fed
	rarely.slow = 24 * time.Hour
	if due, _ := nextRead(s.intent("ci_1"), rarely, now); !due.Equal(noon.Add(api.ConfirmWindow + pastExpiry)) {
		t.Errorf("the intent is read at %v, want when its window closes", due)
	}
	sh, _ := s.Shipment("shp_1")
	if due := nextShipmentRead(sh, fed); due.After(now.Add(2 * fed.slow)) {
		t.Errorf("the shipment is read at %v", due)
	}
}

func TestAClockThatIsAheadEndsNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ahead := NewStore(StoreConfig{}), 40*24*time.Hour
		at := time.Now().Add(-ahead)
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.Failed, CreatedAt: at}, at, ByRead)
		for range clockAnswers {
			s.RecordExchange(api.Exchange{Status: 200, Sent: time.Now(), Latency: time.Millisecond, Date: at})
		}
		f, err := OpenSaved(SavedConfig{Dir: t.TempDir(), Account: "a"})
		if err != nil {
			t.Fatal(err)
		}
		mustSave(t, f, s)
		again := mustRestore(t, f)
		if _, ok := again.Intent("ci_1"); !ok {
			t.Error("what ended just now is not kept")
		}
	})
}
