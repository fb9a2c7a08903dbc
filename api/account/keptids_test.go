package account

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

// TestIDsThatAreKeptComeBackAsTheyWere holds while others come and go.
func TestIDsThatAreKeptComeBackAsTheyWere(t *testing.T) {
	type told struct {
		id    string
		owner uint32
		owned bool
	}
	rapid.Check(t, func(t *rapid.T) {
		k, kept := newKeptIDs(), map[uint32]told{}
		for range rapid.IntRange(1, 200).Draw(t, "ids") {
			id := api.ScrubID(rapid.OneOf(
				rapid.StringMatching(`(evt_)?[a-z_]{0,9}[0-9a-f]{0,41}`), rapid.String(),
				rapid.Just("evt_"+strings.Repeat("a", mostPlain+1)), rapid.Just("evt_"+strings.Repeat("a", mostPlain)),
				rapid.Just(strings.Repeat("f", api.MaxID+3)), rapid.Just(strings.Repeat("é", 900)),
			).Draw(t, "id"))
			want, number := told{id: string(id), owned: rapid.Bool().Draw(t, "owned")}, uint32(0)
			if want.owned {
				want.owner = rapid.Uint32().Draw(t, "owner")
				number = k.keepOwned(want.owner, want.id)
			} else if number = k.keep(id); id == "" {
				if number != 0 {
					t.Fatalf("no id has number %d", number)
				}
				continue
			}
			if was, ok := kept[number]; ok || number == 0 {
				t.Fatalf("%+v is number %d, which %+v is", want, number, was)
			}
			kept[number] = want
			for number := range kept {
				if rapid.IntRange(0, 3).Draw(t, "give up") == 0 {
					k.giveUp(number)
					delete(kept, number)
				}
				break
			}
			for number, want := range kept {
				if id, owner, owned := k.id(number); (told{id, owner, owned}) != want {
					t.Fatalf("%+v came back as %q of %d (%t)", want, id, owner, owned)
				}
			}
		}
	})
}

func TestAUsualEventIDTakesHalfItsDigitsAndAByte(t *testing.T) {
	for id, most := range map[api.ID]int{
		"evt_28b4640ead7b4bc7b5189e6b0d386bf0":         17,
		"evt_00000000000000000000000000000000000f4240": 21,
	} {
		k := newKeptIDs()
		if n := len(k.slot(k.keep(id))); n > most {
			t.Errorf("%s takes %d bytes, want at most %d", id, n, most)
		}
	}
}

func TestTheRoomOfIDsThatAreGivenUpIsUsedAgain(t *testing.T) {
	k := newKeptIDs()
	for n := range 100 * idsPerPage {
		k.giveUp(k.keep(api.ID(fmt.Sprintf("evt_%032x", n))))
	}
	if n := len(k.pages); n != 1 {
		t.Errorf("%d pages for one id at a time", n)
	}
}

func TestATimelineThatForgetsEventsGivesUpTheirIDs(t *testing.T) {
	s := NewStore(StoreConfig{})
	for n := range 3 * mostMoments {
		d := intentEvent(n, "ci_1", api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))
		d.Event.ID = api.ID(fmt.Sprintf("evt_%032x", n))
		s.ApplyEvents([]Delivery{d}, time.Now())
	}
	if n := len(s.eventIDs.pages); n > mostMoments/idsPerPage+1 {
		t.Errorf("%d pages of ids", n)
	}
}

// TestAnEventOfAShipmentIsKnownByItsID holds for ids that are made of the
// shipment's, of the intent's and of neither, in short and in long timelines.
func TestAnEventOfAShipmentIsKnownByItsID(t *testing.T) {
	forms := []string{"evt_shp_1_shipped_%d", "evt_shp_2_%d", "evt_ci_1_shipped_%d", "evt_%032x", "evt_ci_1_2_%d"}
	for _, events := range []int{8, 64} {
		s := NewStore(StoreConfig{KeepEvents: 1}) // all others are known by the timeline alone
		s.ApplyShipments([]api.Shipment{{ID: "shp_1", IntentID: "ci_1"}, {ID: "ci_1_2", IntentID: "ci_1"}}, noon)
		deliver := func(round, n int) {
			at := noon.Add(time.Duration(n) * time.Second)
			s.ApplyEvents([]Delivery{{Seq: int64(round*events + n + 1), Received: at, Event: api.Event{
				ID: api.ID(fmt.Sprintf(forms[n%len(forms)], n)), Type: api.ShipmentUpdated, CreatedAt: at,
				Source: api.EventSource{ID: "shp_1", Type: api.SourceShipment},
			}}}, time.Now())

		}
		for round := range 2 {
			for n := range events {
				deliver(round, n)
			}
		}
		if got := s.Summary().Events; got.Received != events || got.Duplicate != events {
			t.Errorf("of %d events, each delivered twice, %d are new and %d duplicates", events, got.Received, got.Duplicate)
		}
		in, _ := s.Intent("ci_1")
		var shown []api.ID
		for _, m := range in.Timeline {
			if m.How == ByEvent {
				shown = append(shown, m.EventID)
			}
		}
		if len(shown) != events {
			t.Fatalf("%d events in the timeline, want %d", len(shown), events)
		}
		for n, id := range shown {
			if want := api.ID(fmt.Sprintf(forms[n%len(forms)], n)); id != want {
				t.Errorf("event %d is told as %s, want %s", n, id, want)
			}
		}
		again := NewStore(StoreConfig{})
		r := again.intent("ci_1")
		for _, m := range in.Timeline {
			taken := again.momentOf(r, m)
			if got := again.spell(r, &taken); got != m {
				t.Errorf("without its shipments %+v comes back as %+v", m, got)
			}
		}
	}
}

// TestSuffixesThatDoNotRepeatAreGivenUpWithTheirEvents holds once more of them came
// than are kept for good.
func TestSuffixesThatDoNotRepeatAreGivenUpWithTheirEvents(t *testing.T) {
	const events = mostTexts + 2*mostMoments
	s := NewStore(StoreConfig{KeepEvents: 1})
	deliver := func(seq, n int) {
		d := intentEvent(n, "ci_1", api.OfferRetrieved, noon.Add(time.Duration(n)*time.Second))
		d.Seq, d.Event.ID = int64(seq), api.ID(fmt.Sprintf("evt_ci_1_noted_%06d", n))
		s.ApplyEvents([]Delivery{d}, time.Now())
	}
	for n := range events {
		deliver(n+1, n)
	}
	if n := len(s.ends.texts); n > mostTexts+1 {
		t.Errorf("%d suffixes are kept for good, want at most %d", n, mostTexts)
	}
	if n := len(s.eventIDs.pages); n > mostMoments/idsPerPage+2 {
		t.Errorf("%d pages of ids", n)
	}
	in, _ := s.Intent("ci_1")
	if last := in.Timeline[len(in.Timeline)-1]; last.EventID != api.ID(fmt.Sprintf("evt_ci_1_noted_%06d", events-1)) {
		t.Errorf("the last event is told as %+v", last)
	}
	for n := range mostMoments / 2 {
		deliver(events+n+1, events-2-n)
	}
	if got := s.Summary().Events; got.Received != events || got.Duplicate != mostMoments/2 {
		t.Errorf("of %d events, half a timeline twice, %d are new and %d duplicates", events, got.Received, got.Duplicate)
	}
}
