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
