package api

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestEveryFixtureShipmentDecodes(t *testing.T) {
	for _, f := range fixtures(t, "04-shipments.json") {
		t.Run(f.Name, func(t *testing.T) {
			got, err := DecodeShipment(f.Body)
			if err != nil {
				t.Fatal(err)
			}
			compareShipment(t, &got, oracle[wireShipment](t, f.Body))
			same(t, "raw", string(got.Raw), string(f.Body))
		})
	}
}

func compareShipment(t *testing.T, got *Shipment, want wireShipment) {
	t.Helper()
	same(t, "id", string(got.ID), want.ID)
	same(t, "intent", string(got.IntentID), want.CheckoutIntentID)
	same(t, "order", string(got.MarketplaceOrderID), want.MarketplaceOrderID)
	same(t, "external id", string(got.ExternalID), want.ExternalID)
	same(t, "status", string(got.Status), want.Status)
	same(t, "created", got.CreatedAt, want.CreatedAt)
	same(t, "updated", got.UpdatedAt, want.UpdatedAt)
	same(t, "shipped", got.ShippedAt, want.ShippedAt)
	same(t, "delivered", got.DeliveredAt, want.DeliveredAt)
	same(t, "tracking", got.Tracking != nil, want.Tracking != nil)
	if w := want.Tracking; w != nil {
		var estimated time.Time
		if w.DeliveryDate != nil {
			estimated = w.DeliveryDate.Estimated
		}
		same(t, "tracking", *got.Tracking, Tracking{
			Carrier: Text(deref(w.CarrierName)), Number: Text(deref(w.Number)), URL: Text(deref(w.URL)), Estimated: estimated,
		})
	}
	same(t, "tracking events", len(got.TrackingEvents), len(want.TrackingEvents))
	for i, w := range want.TrackingEvents {
		var at time.Time
		if w.Timestamp != nil {
			at = w.Timestamp.UTC
		}
		same(t, "tracking event", got.TrackingEvents[i], TrackingEvent{
			Status: ShipmentStatus(w.Status), Description: Text(deref(w.Description)), City: Text(deref(w.Location.City)),
			Province: Text(deref(w.Location.Province)), Country: Text(deref(w.Location.Country)), At: at,
		})
	}
}

func TestShipmentToleratesOlderAndOddShapes(t *testing.T) {
	tests := []struct {
		name, fields string
		check        func(*Shipment) any
		want         any
	}{
		{"an unknown status", `"status":"lost"`, func(s *Shipment) any { return s.Status }, ShipmentStatus("lost")},
		{"the older estimate", `"tracking":{"estimatedDeliveryDate":"2025-02-05"}`, func(s *Shipment) any { return s.Tracking.Estimated }, time.Date(2025, 2, 5, 0, 0, 0, 0, time.UTC)},
		{"both estimates", `"tracking":{"estimatedDeliveryDate":"2025-02-05","deliveryDate":{"estimated":"2025-02-06"}}`, func(s *Shipment) any { return s.Tracking.Estimated.Day() }, 6},
		{"local time only", `"trackingEvents":[{"timestamp":{"local":"2025-02-05T17:02:00.000-05:00"}}]`, func(s *Shipment) any { return s.TrackingEvents[0].At }, time.Date(2025, 2, 5, 22, 2, 0, 0, time.UTC)},
		{"a plain timestamp", `"trackingEvents":[{"timestamp":"2025-02-05T17:02:00Z"}]`, func(s *Shipment) any { return s.TrackingEvents[0].At.Hour() }, 17},
		{"wrong types", `"status":1,"tracking":[],"trackingEvents":[null,3,{"location":"x","timestamp":4,"status":[]}],"shippedAt":{}`,
			func(s *Shipment) any {
				return s.Status == "" && s.Tracking == nil && len(s.TrackingEvents) == 1 && s.ShippedAt.IsZero()
			}, true},
		{"an order id that is a number", `"marketplaceOrderId":112`, func(s *Shipment) any { return s.MarketplaceOrderID }, Text("112")},
		{"a carrier that would draw", `"tracking":{"carrierName":"U\u001b]8;;x\u0007PS"}`, func(s *Shipment) any { return s.Tracking.Carrier }, Text("U]8;;xPS")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeShipment([]byte(`{"id":"shp_1",` + test.fields + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if value := test.check(&got); value != test.want {
				t.Errorf("got %v, want %v", value, test.want)
			}
		})
	}
	if _, err := DecodeShipment([]byte(`{"status":"shipped"}`)); err == nil || !strings.Contains(err.Error(), "id is missing") {
		t.Errorf("a shipment without an id: %v", err)
	}
}

func FuzzDecodeShipment(f *testing.F) {
	for _, c := range fixtures(f, "04-shipments.json") {
		f.Add([]byte(c.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		shipment, err := DecodeShipment(body)
		if err != nil {
			return
		}
		if shipment.ID == "" || !bytes.Equal(shipment.Raw, body) {
			t.Fatalf("id %q, %d bytes kept of %d", shipment.ID, len(shipment.Raw), len(body))
		}
		texts := []Text{Text(shipment.ID), Text(shipment.IntentID), Text(shipment.Status), shipment.MarketplaceOrderID}
		if shipment.Tracking != nil {
			texts = append(texts, shipment.Tracking.Carrier, shipment.Tracking.Number, shipment.Tracking.URL)
		}
		for _, event := range shipment.TrackingEvents {
			texts = append(texts, Text(event.Status), event.Description, event.City)
		}
		for _, text := range texts {
			if forbidden := findForbidden(string(text)); forbidden != "" {
				t.Fatalf("%q holds %s", text, forbidden)
			}
		}
	})
}
