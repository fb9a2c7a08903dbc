package account

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

// drawParcel draws anything that a read of a shipment may hold.
func drawParcel(t *rapid.T) *api.Shipment {
	text := rapid.Custom(func(t *rapid.T) api.Text { return api.Text(rapid.StringMatching(`[ -~é–]{0,12}`).Draw(t, "text")) })
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		return instant(rapid.OneOf(rapid.Int64Range(-1<<60, 1<<60), rapid.SampledFrom([]int64{0, int64(time.Hour)})).Draw(t, "moment")).time()
	})
	status := rapid.Custom(func(t *rapid.T) api.ShipmentStatus {
		return rapid.SampledFrom(append(api.ShipmentStatuses(), "", "lost_at_sea")).Draw(t, "status")
	})
	sh := &api.Shipment{
		ID: "shp_1", IntentID: api.ID(rapid.OneOf(rapid.StringMatching(`ci_[0-9a-f]{32}`), rapid.StringMatching(`[ -~]{0,40}`)).Draw(t, "intent")),
		MarketplaceOrderID: text.Draw(t, "order"), ExternalID: text.Draw(t, "external"), Status: status.Draw(t, "status"),
		CreatedAt: moment.Draw(t, "created"), UpdatedAt: moment.Draw(t, "updated"), ShippedAt: moment.Draw(t, "shipped"), DeliveredAt: moment.Draw(t, "delivered"),
	}
	if rapid.Bool().Draw(t, "tracking") {
		sh.Tracking = &api.Tracking{Carrier: text.Draw(t, "carrier"), Number: text.Draw(t, "number"), URL: text.Draw(t, "url"), Estimated: moment.Draw(t, "estimated")}
	}
	for range rapid.IntRange(0, 3).Draw(t, "scans") {
		sh.TrackingEvents = append(sh.TrackingEvents, api.TrackingEvent{
			Status: status.Draw(t, "scan"), Description: text.Draw(t, "description"), City: text.Draw(t, "city"),
			Province: text.Draw(t, "province"), Country: text.Draw(t, "country"), At: moment.Draw(t, "at"),
		})
	}
	return sh
}

func TestPackedShipmentTellsWhatWasPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sh := drawParcel(t)
		if got := unpackParcel(packParcel(sh), sh.ID); !reflect.DeepEqual(got, sh) {
			t.Fatalf("unpacked %+v, want %+v", got, sh)
		}
	})
}

func FuzzUnpackParcel(f *testing.F) {
	f.Add(packParcel(&api.Shipment{IntentID: benchID(1), Status: api.Shipped, Tracking: &api.Tracking{Number: "1Z9"}, TrackingEvents: []api.TrackingEvent{{City: "Austin"}}}))
	f.Add("\x01\x00")
	f.Fuzz(func(t *testing.T, packed string) {
		if len(packed) > 1<<10 {
			return
		}
		once := unpackParcel(packed, "shp_1")
		again := unpackParcel(packParcel(once), "shp_1")
		// Moments beyond what is kept of them become none.
		if again.IntentID != once.IntentID || again.Status != once.Status || len(again.TrackingEvents) != len(once.TrackingEvents) {
			t.Fatalf("packed again it is %+v, was %+v", again, once)
		}
	})
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
