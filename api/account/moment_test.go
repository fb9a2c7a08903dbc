package account

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

func TestMomentIsKeptToTheMicrosecondAndItsLearningToTheMillisecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := instantOf(noon) + instant(rapid.Int64Range(-int64(50*365*24*time.Hour), int64(50*365*24*time.Hour)).Draw(t, "at"))
		behind := time.Duration(rapid.Int64Range(-int64(5*24*time.Hour), int64(30*365*24*time.Hour)).Draw(t, "behind"))
		m := moment{
			at: at, learnt: at + instant(behind), what: rapid.Uint32Range(0, mostWhat).Draw(t, "what"),
			kind: momentKind(rapid.Byte().Draw(t, "kind")), code: rapid.Byte().Draw(t, "code"),
		}
		var k keptMoment
		k.put(&m)
		got := k.moment()
		if off := m.at - got.at; off < -1000 || off > 1000 {
			t.Fatalf("happened %d ns off", off)
		}
		most := instant(time.Millisecond)
		if behind > 18*24*time.Hour {
			most = instant(time.Second)
		}
		if off := m.learnt - got.learnt; off < -2*most || off > 2*most {
			t.Fatalf("learnt %s off, of %s", time.Duration(off), behind)
		}
		if got.what != m.what || got.kind != m.kind || got.code != m.code {
			t.Fatalf("kept %+v as %+v", m, got)
		}
	})
}

func TestTimelineTellsEventsByTheirIDsAndWords(t *testing.T) {
	s := NewStore(StoreConfig{})
	deliver := func(seq int64, id api.ID, kind api.EventType, second int) {
		at := noon.Add(time.Duration(second) * time.Second)
		s.ApplyEvents([]Delivery{{Seq: seq, Received: at, Event: api.Event{
			ID: id, Type: kind, CreatedAt: at, Source: api.EventSource{ID: "ci_1", Type: api.SourceIntent},
		}}})
	}
	deliver(1, "evt_ci_1_completed", api.IntentCompleted, 9)
	deliver(2, "odd:id", api.OfferRetrieved, 3)
	deliver(3, "evt_ci_1_", "checkout_intent.moved", 4)
	deliver(4, "evt_ci_12_completed", api.OfferFailed, 5)
	in, _ := s.Intent("ci_1")
	want := []struct {
		id   api.ID
		text string
	}{
		{"odd:id", "offer retrieved, told late: already completed"},
		{"evt_ci_1_", "event of an unknown type: checkout_intent.moved"},
		{"evt_ci_12_completed", "offer failed"},
		{"evt_ci_1_completed", "completed"},
	}
	if len(in.Timeline) != len(want) {
		t.Fatalf("timeline %+v", in.Timeline)
	}
	for i, m := range in.Timeline {
		if m.EventID != want[i].id || m.Text != want[i].text || m.How != ByEvent {
			t.Errorf("moment %d is %+v, want %+v", i, m, want[i])
		}
	}
}

// TestSavedWordsAreTakenApartAgain holds for all words that a timeline makes.
func TestSavedWordsAreTakenApartAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(StoreConfig{})
		r := s.intent("ci_1")
		at := instantOf(noon)
		states := append(api.IntentStates(), "", "requires_action", "refund, again")
		state := rapid.SampledFrom(states).Draw(t, "state")
		var m moment
		switch rapid.IntRange(0, 3).Draw(t, "way") {
		case 0:
			id := rapid.SampledFrom([]api.ID{"evt_ci_1_completed", "evt_1", "evt_ci_1_"}).Draw(t, "id")
			kind := rapid.SampledFrom([]api.EventType{api.OfferRetrieved, api.OfferFailed, api.IntentCompleted, api.OrderFailed, "moon.risen"}).Draw(t, "type")
			m = s.eventMoment("ci_1", id, kind, at, at)
			m.kind |= behindKind(state, rapid.Bool().Draw(t, "late"))
		case 1:
			how := rapid.SampledFrom([]Learnt{ByRead, ByConfirm}).Draw(t, "how")
			m = s.toldMoment(r, how, state, rapid.SampledFrom([]string{"", "44.52 USD", "out of stock"}).Draw(t, "detail"), at, at)
		case 2:
			m = s.saidMoment(ByTimer, state, "no event told of completed", at, at)
		case 3:
			m = s.saidMoment(ByRead, state, "read: not found in this environment", at, at)
		}
		want := s.spell(r, &m)
		again := s.momentOf(r, want)
		if got := s.spell(r, &again); got != want {
			t.Fatalf("%+v comes back as %+v", want, got)
		}
	})
}

func TestATimelineForgetsInItsMiddleAndReusesTheRoom(t *testing.T) {
	s := NewStore(StoreConfig{})
	for n := range 3 * keepMoments {
		s.ApplyEvents([]Delivery{intentEvent(n, "ci_1", api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))})
	}
	in, _ := s.Intent("ci_1")
	if n := len(in.Timeline); n != keepMoments || in.Timeline[0].EventID != "evt_0" || in.Timeline[n-1].EventID != "evt_599" || in.Timeline[1].EventID != "evt_401" {
		t.Errorf("%d moments, from %s and %s to %s", n, in.Timeline[0].EventID, in.Timeline[1].EventID, in.Timeline[n-1].EventID)
	}
	if s.moments.last > keepMoments+1 {
		t.Errorf("room for %d moments", s.moments.last)
	}
}
