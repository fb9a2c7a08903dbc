package account

import (
	"reflect"
	"testing"
	"time"

	"tillwatch/api"
)

func TestOnlyTheNewestAnswersAreKeptWhole(t *testing.T) {
	s := NewStore(StoreConfig{})
	const all = wholeAnswers + 100
	for n := range all {
		s.ApplyRead(benchRead(benchID(n), n, true), noon.Add(time.Duration(n)*time.Second), ByRead)
	}
	listed := s.Changes(0).Intents
	for n := range all {
		in, _ := s.Intent(benchID(n))
		want := benchRead(benchID(n), n, true)
		got := in.Latest
		if whole := len(got.Raw) > 0 && got.Buyer != nil; whole != (n >= 100) {
			t.Fatalf("answer %d of %d is whole: %t", n+1, all, whole)
		}
		if got.State != want.State || got.ProductURL != want.ProductURL || got.Quantity != want.Quantity || *got.Offer.Cost.Total != *want.Offer.Cost.Total ||
			got.Offer.Selected().EarliestDelivery != want.Offer.Selected().EarliestDelivery || got.OrderIDs[0] != want.OrderIDs[0] {
			t.Fatalf("answer %d is kept as %+v", n+1, got)
		}
		if *listed[n].Total != *in.Total || listed[n].ReferenceID != want.ReferenceID || listed[n].Quantity != want.Quantity {
			t.Fatalf("a list shows %+v of answer %d", listed[n], n+1)
		}
	}
	s.ApplyRead(benchRead(benchID(0), 0, true), noon.Add(time.Hour), ByRead)
	if in, _ := s.Intent(benchID(0)); len(in.Latest.Raw) == 0 || in.Latest.Buyer == nil {
		t.Error("reading again did not bring back the whole answer")
	}
}

func TestAnswersReadAgainAndAgainTakeNoMoreRoom(t *testing.T) {
	s := NewStore(StoreConfig{})
	for n := range 20 * wholeAnswers {
		s.ApplyRead(benchRead(benchID(n%3), 0, true), noon.Add(time.Duration(n)*time.Second), ByRead)
	}
	if len(s.answers.places) != 3 || s.answers.order.Len() != 3 || s.answers.bytes != 3*1300 {
		t.Errorf("%d answers, %d in order, %d bytes", len(s.answers.places), s.answers.order.Len(), s.answers.bytes)
	}
}

func TestAShipmentIsOfTheIntentThatItWasReadWithLast(t *testing.T) {
	s := NewStore(StoreConfig{})
	for i, of := range []api.ID{"ci_1", "ci_1", "ci_2"} {
		at := noon.Add(time.Duration(i) * time.Second)
		s.ApplyShipments([]api.Shipment{{ID: "shp_1", IntentID: "ci_1", UpdatedAt: noon}, {ID: "shp_2", IntentID: of, UpdatedAt: at}, {ID: "shp_3", IntentID: "ci_1", UpdatedAt: noon}}, at)
	}
	one, _ := s.Intent("ci_1")
	two, _ := s.Intent("ci_2")
	if len(one.Shipments) != 2 || one.Shipments[0] != "shp_1" || one.Shipments[1] != "shp_3" || len(two.Shipments) != 1 || two.Shipments[0] != "shp_2" {
		t.Errorf("shipments %v and %v", one.Shipments, two.Shipments)
	}
}

func TestOnlyTheNewestShipmentsAreKeptWhole(t *testing.T) {
	s := NewStore(StoreConfig{})
	const all = wholeAnswers + 100
	for n := range all {
		s.ApplyShipments([]api.Shipment{benchShipment(n)}, noon.Add(time.Duration(n)*time.Second))
	}
	for n, listed := range s.Changes(0).Shipments {
		want := benchShipment(n)
		one, _ := s.Shipment(want.ID)
		if !reflect.DeepEqual(one, listed) {
			t.Fatalf("a list shows %+v, the whole is %+v", listed, one)
		}
		if whole := len(one.Latest.Raw) > 0; whole != (n >= 100) {
			t.Fatalf("the body of shipment %d of %d is kept: %t", n+1, all, whole)
		}
		if want.Raw = one.Latest.Raw; !reflect.DeepEqual(*one.Latest, want) {
			t.Fatalf("shipment %d is kept as %+v, want %+v", n+1, one.Latest, want)
		}
	}
}
