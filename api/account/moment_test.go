package account

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

// brief spells a moment for a comparison.
func brief(m *Moment) string {
	spaced := func(code string) string { return strings.ReplaceAll(code, "_", " ") }
	switch m.What {
	case EventTold:
		text := spaced(strings.TrimPrefix(string(m.Type), "checkout_intent."))
		if m.Already() {
			text += fmt.Sprintf(" (late %t), already %s", m.Late, spaced(string(m.From)))
		}
		return text
	case ShipmentTold:
		return string(m.Type)
	case ReadShowed, ConfirmTaken:
		text := string(m.What) + ": " + spaced(string(m.To))
		if m.Total != nil {
			text += ", " + m.Total.String()
		}
		return text
	case Unchanged, LetGo:
		return fmt.Sprint(spaced(string(m.What)), " ", m.Count)
	}
	return spaced(string(m.What))
}

func briefly(line []*Moment) []string {
	var all []string
	for _, m := range line {
		all = append(all, brief(m))
	}
	return all
}

func TestATimelineKnowsEventsByTheirIDsAndTypes(t *testing.T) {
	s := NewStore(StoreConfig{})
	deliver := func(seq int64, id api.ID, kind api.EventType, second int) {
		at := noon.Add(time.Duration(second) * time.Second)
		s.ApplyEvents([]Delivery{{Seq: seq, Received: at, Event: api.Event{
			ID: id, Type: kind, CreatedAt: at, Source: api.EventSource{ID: "ci_1", Type: api.SourceIntent},
		}}}, time.Now())

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
		{"odd:id", "offer retrieved (late true), already completed"},
		{"evt_ci_1_", "moved"},
		{"evt_ci_12_completed", "offer failed"},
		{"evt_ci_1_completed", "completed"},
	}
	if len(in.Timeline) != len(want) {
		t.Fatalf("timeline %+v", in.Timeline)
	}
	for i, m := range in.Timeline {
		if m.EventID != want[i].id || brief(m) != want[i].text || m.By() != ByEvent {
			t.Errorf("moment %d is %+v, want %+v", i, m, want[i])
		}
	}
}

func TestAMomentSaysWhatItMovedFromAndTo(t *testing.T) {
	s := NewStore(StoreConfig{})
	readAs(api.RetrievingOffer, 1)(s)
	told(api.OfferRetrieved, 5)(s)
	readAs(api.PlacingOrder, 9)(s)
	in, _ := s.Intent("ci_1")
	want := []struct{ from, to api.IntentState }{{"", api.RetrievingOffer}, {api.RetrievingOffer, api.AwaitingConfirmation}, {api.AwaitingConfirmation, api.PlacingOrder}}
	for i, m := range in.Timeline {
		if m.From != want[i].from || m.To != want[i].to || m.State() != want[i].to {
			t.Errorf("moment %d is from %q to %q, want %+v", i, m.From, m.To, want[i])
		}
	}
}

func TestAPublishedTimelineNeverChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(StoreConfig{})
		readAs(api.RetrievingOffer, 50)(s)
		var published, copies [][]*Moment
		for n := range rapid.IntRange(1, 60).Draw(t, "facts") {
			second := rapid.IntRange(0, 100).Draw(t, "second")
			switch rapid.IntRange(0, 2).Draw(t, "fact") {
			case 0:
				s.ApplyEvents([]Delivery{intentEvent(n, "ci_1", "checkout_intent.noted", noon.Add(time.Duration(second)*time.Second))}, time.Now())
			case 1:
				readAs(api.PlacingOrder, second)(s)
			case 2:
				readAs(api.RetrievingOffer, second)(s)
			}
			in, _ := s.Intent("ci_1")
			published, copies = append(published, in.Timeline), append(copies, slices.Clone(in.Timeline))
		}
		for i := range published {
			if !slices.Equal(published[i], copies[i]) {
				t.Fatalf("published as %+v it became %+v", copies[i], published[i])
			}
		}
	})
}

func TestATimelineLetsGoOfItsMiddle(t *testing.T) {
	s := NewStore(StoreConfig{})
	for n := range 3 * mostMoments {
		s.ApplyEvents([]Delivery{intentEvent(n, "ci_1", api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))}, time.Now())
	}
	in, _ := s.Intent("ci_1")
	n := len(in.Timeline)
	if n > mostMoments+1 || n < mostMoments*3/4 || in.Timeline[0].EventID != "evt_0" || in.Timeline[n-1].EventID != api.ID(fmt.Sprint("evt_", 3*mostMoments-1)) {
		t.Fatalf("%d moments, from %s to %s", n, in.Timeline[0].EventID, in.Timeline[n-1].EventID)
	}
	if gap := in.Timeline[1]; gap.What != LetGo || gap.Count != 3*mostMoments-n+1 {
		t.Errorf("the gap is reported as %+v, want %d", gap, 3*mostMoments-n+1)
	}
}

func TestEventsAndConfirmsStayWhileReadsGiveWay(t *testing.T) {
	s := NewStore(StoreConfig{})
	const rounds = keepReads + 10
	s.ApplyEvents([]Delivery{intentEvent(rounds, "ci_1", api.OfferRetrieved, noon)}, time.Now())
	for n := range rounds {
		at := noon.Add(time.Duration(n) * time.Minute)
		if n%3 == 0 {
			s.ApplyEvents([]Delivery{intentEvent(n, "ci_1", "checkout_intent.noted", at)}, time.Now())
			s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation}, at.Add(2*time.Second), ByConfirm)
		}
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation, CreatedAt: noon,
			Offer: &api.Offer{Cost: api.Cost{Total: &api.Money{Currency: "USD", Subunits: int64(n)}}}}, at.Add(3*time.Second), ByRead)
	}
	in, _ := s.Intent("ci_1")
	ways := map[Learnt]int{}
	for _, m := range in.Timeline {
		ways[m.By()]++
	}
	others := (rounds + 2) / 3
	if ways[ByEvent] != others+1 || ways[ByConfirm] != others || ways[ByRead] != keepReads {
		t.Errorf("%d events and %d confirms of %d, and %d reads", ways[ByEvent], ways[ByConfirm], others, ways[ByRead])
	}
	if gap := in.Timeline[1]; gap.What != LetGo || gap.Count != rounds-keepReads {
		t.Errorf("the gap is reported as %+v, want %d", gap, rounds-keepReads)
	}
}

func TestReadsThatChangeNothingAreCounted(t *testing.T) {
	s := NewStore(StoreConfig{})
	read := func(second int) {
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.PlacingOrder}, noon.Add(time.Duration(second)*time.Second), ByRead)
	}
	for second := range 38 {
		read(second)
	}
	s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", "checkout_intent.noted", noon.Add(time.Minute))}, time.Now())
	read(90)
	want := []string{"read: placing order", "unchanged 37", "noted", "unchanged 1"}
	in, _ := s.Intent("ci_1")
	if got := briefly(in.Timeline); !slices.Equal(got, want) {
		t.Errorf("timeline %q, want %q", got, want)
	}
	if m := in.Timeline[1]; m.State() != "" || !m.When.Equal(noon.Add(37*time.Second)) {
		t.Errorf("they are reported as %+v", m)
	}
}

func TestEventsOfAShipmentStandInTheTimelineOfItsIntent(t *testing.T) {
	s := NewStore(StoreConfig{})
	deliver := func(id api.ID, kind api.EventType, second int) {
		at := noon.Add(time.Duration(second) * time.Second)
		s.ApplyEvents([]Delivery{{Seq: int64(second), Received: at, Event: api.Event{
			ID: id, Type: kind, CreatedAt: at, Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment},
		}}}, time.Now())

	}
	s.ApplyEvents([]Delivery{intentEvent(1, "ci_1", api.IntentCompleted, noon)}, time.Now())
	deliver("evt_shp_1_updated", api.ShipmentUpdated, 20)
	deliver("evt_shp_1_created", api.ShipmentCreated, 10)
	s.ApplyShipments([]api.Shipment{{ID: "shp_1", IntentID: "ci_1", Status: api.Shipped}}, noon.Add(time.Minute))
	deliver("evt_shp_1_moved", "shipment.moved", 70)
	deliver("evt_shp_1_moved", "shipment.moved", 70)
	in, _ := s.Intent("ci_1")
	want := []string{"completed", "shipment.created", "shipment.updated", "shipment.moved"}
	if got := briefly(in.Timeline); !slices.Equal(got, want) {
		t.Errorf("timeline %q, want %q", got, want)
	}
	if m := in.Timeline[1]; m.EventID != "evt_shp_1_created" || m.By() != ByEvent || m.State() != "" {
		t.Errorf("an event of a shipment is reported as %+v", m)
	}
	if in.State != api.Completed {
		t.Errorf("it moved the intent to %s", in.State)
	}
}

// TestEventsOfAnIntentStandInTheOrderOfTheirCreation holds in whatever order they
// arrive.
func TestEventsOfAnIntentStandInTheOrderOfTheirCreation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "events")
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		s := NewStore(StoreConfig{})
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.PlacingOrder}, noon.Add(-time.Hour), ByRead)
		for _, i := range rapid.Permutation(order).Draw(t, "order") {
			s.ApplyEvents([]Delivery{intentEvent(i, "ci_1", "checkout_intent.noted", noon.Add(time.Duration(i)*time.Second))}, time.Now())
		}
		in, _ := s.Intent("ci_1")
		if len(in.Timeline) != n+1 {
			t.Fatalf("%d moments, want %d", len(in.Timeline), n+1)
		}
		for i, m := range in.Timeline[1:] {
			if want := api.ID(fmt.Sprint("evt_", i)); m.EventID != want {
				t.Fatalf("event %d is %s, want %s", i, m.EventID, want)
			}
		}
	})
}
