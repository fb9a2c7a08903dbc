package dashboard

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func idsOf(intents []*account.Intent) []api.ID {
	var ids []api.ID
	for _, in := range intents {
		ids = append(ids, in.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestAFrozenScreenCatchesUpWithThePicture(t *testing.T) {
	intent := func(id api.ID) *account.Intent { return &account.Intent{ID: id} }
	cases := []struct {
		name    string
		changes []account.Changes
		intents []api.ID
		gone    []api.ID
		whole   bool
	}{
		{"nothing happened", nil, []api.ID{"ci_1", "ci_2"}, nil, false},
		{"one came", []account.Changes{{Intents: []*account.Intent{intent("ci_3")}}}, []api.ID{"ci_1", "ci_2", "ci_3"}, nil, false},
		{"one was let go", []account.Changes{{GoneIntents: []api.ID{"ci_2"}}}, []api.ID{"ci_1"}, []api.ID{"ci_2"}, false},
		{"one was let go and is back", []account.Changes{{GoneIntents: []api.ID{"ci_2"}}, {Intents: []*account.Intent{intent("ci_2")}}},
			[]api.ID{"ci_1", "ci_2"}, nil, false},
		{"the picture started over", []account.Changes{{Whole: true, Intents: []*account.Intent{intent("ci_9")}}}, []api.ID{"ci_9"}, nil, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPicture(api.Environment{})
			p.apply(&account.Changes{Intents: []*account.Intent{intent("ci_1"), intent("ci_2")}})
			p.freeze(time.Unix(0, 0))
			for _, change := range c.changes {
				p.apply(&change)
			}
			missed := p.thaw()
			if got := idsOf(missed.Intents); !slices.Equal(got, c.intents) || !slices.Equal(missed.GoneIntents, c.gone) || missed.Whole != c.whole {
				t.Errorf("intents %v, gone %v, whole %t; want %v, %v, %t", got, missed.GoneIntents, missed.Whole, c.intents, c.gone, c.whole)
			}
			if p.frozen != nil {
				t.Error("it is still frozen")
			}
			p.freeze(time.Unix(1, 0))
			if again := p.thaw(); again.Whole || len(again.GoneIntents) > 0 {
				t.Errorf("the next freeze brings the last one's again: %+v", again)
			}
		})
	}
}

func TestAFrozenScreenRemembersOnlyWhatItShows(t *testing.T) {
	p := newPicture(api.Environment{})
	p.apply(&account.Changes{Intents: []*account.Intent{{ID: "shown"}}, Shipments: []*account.Shipment{{ID: "parcel"}}})
	p.freeze(time.Now())
	for n := range 1000 { // intents that come and go while nobody looks
		id := api.ID(strconv.Itoa(n))
		p.apply(&account.Changes{Intents: []*account.Intent{{ID: id}}, Shipments: []*account.Shipment{{ID: id}}})
		p.apply(&account.Changes{GoneIntents: []api.ID{id}, GoneShipments: []api.ID{id}})
	}
	p.apply(&account.Changes{GoneIntents: []api.ID{"shown"}, GoneShipments: []api.ID{"parcel"}})
	missed := p.thaw()
	if !slices.Equal(missed.GoneIntents, []api.ID{"shown"}) || !slices.Equal(missed.GoneShipments, []api.ID{"parcel"}) {
		t.Errorf("%d intents and %d shipments are gone, want one of each", len(missed.GoneIntents), len(missed.GoneShipments))
	}
}
