package account

import (
	"fmt"
	"slices"
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
		switch rapid.IntRange(0, 5).Draw(t, "way") {
		case 4:
			m = moment{at: at, learnt: at, kind: momentKind(ByRead) | folded, what: rapid.Uint32Range(1, mostWhat).Draw(t, "reads")}
		case 5:
			kind := rapid.SampledFrom([]api.EventType{api.ShipmentCreated, api.ShipmentUpdated, api.IntentCompleted, "shipment.moved"}).Draw(t, "type of a shipment's")
			s.ApplyShipments([]api.Shipment{{ID: "shp_1", IntentID: "ci_1"}}, noon)
			m = s.shipmentMoment(r, rapid.SampledFrom([]api.ID{"evt_shp_1_updated", "evt_shp_1_", "evt_ci_1_shipped", "evt_1f"}).Draw(t, "id"), kind, at, at)
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
	for n := range 3 * mostMoments {
		s.ApplyEvents([]Delivery{intentEvent(n, "ci_1", api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))}, time.Now())
	}
	in, _ := s.Intent("ci_1")
	n := len(in.Timeline)
	if n > mostMoments+1 || n < mostMoments*3/4 || in.Timeline[0].EventID != "evt_0" || in.Timeline[n-1].EventID != api.ID(fmt.Sprint("evt_", 3*mostMoments-1)) {
		t.Fatalf("%d moments, from %s to %s", n, in.Timeline[0].EventID, in.Timeline[n-1].EventID)
	}
	if want := fmt.Sprintf("… %d older entries are no longer kept", 3*mostMoments-n+1); in.Timeline[1].Text != want {
		t.Errorf("the gap is told as %q, want %q", in.Timeline[1].Text, want)
	}
	if s.moments.last > mostMoments+1 {
		t.Errorf("room for %d moments", s.moments.last)
	}
}

func TestEventsAndConfirmsStayWhileReadsGiveWay(t *testing.T) {
	s := NewStore(StoreConfig{})
	const rounds = 2 * keepReads
	s.ApplyEvents([]Delivery{intentEvent(rounds, "ci_1", api.OfferRetrieved, noon)}, time.Now())
	for n := range rounds {
		at := noon.Add(time.Duration(n) * time.Minute)
		s.ApplyEvents([]Delivery{intentEvent(n, "ci_1", "checkout_intent.noted", at)}, time.Now())
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation, CreatedAt: noon,
			Offer: &api.Offer{Cost: api.Cost{Total: &api.Money{Currency: "USD", Subunits: int64(n)}}}}, at.Add(time.Second), ByRead)
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation}, at.Add(2*time.Second), ByConfirm)
	}
	in, _ := s.Intent("ci_1")
	ways := map[Learnt]int{}
	for _, m := range in.Timeline {
		ways[m.How]++
	}
	if ways[ByEvent] != rounds+1 || ways[ByConfirm] != rounds || ways[ByRead] != keepReads {
		t.Errorf("%d events and %d confirms of %d, and %d reads", ways[ByEvent], ways[ByConfirm], rounds, ways[ByRead])
	}
	if want := fmt.Sprintf("… %d older entries are no longer kept", rounds-keepReads); in.Timeline[1].Text != want {
		t.Errorf("the gap is told as %q, want %q", in.Timeline[1].Text, want)
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
	want := []string{"read: placing order", "unchanged (37 reads)", "event of an unknown type: checkout_intent.noted", "unchanged (1 read)"}
	in, _ := s.Intent("ci_1")
	var got []string
	for _, m := range in.Timeline {
		got = append(got, m.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("timeline %q, want %q", got, want)
	}
	if m := in.Timeline[1]; m.Reads != 37 || m.State != "" || !m.At.Equal(noon.Add(37*time.Second)) {
		t.Errorf("they are told as %+v", m)
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
	want := []string{"completed", "shipment created", "shipment updated", "shipment event of an unknown type: shipment.moved"}
	var got []string
	for _, m := range in.Timeline {
		got = append(got, m.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("timeline %q, want %q", got, want)
	}
	if m := in.Timeline[1]; m.EventID != "evt_shp_1_created" || m.How != ByEvent || m.State != "" {
		t.Errorf("an event of a shipment is told as %+v", m)
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
