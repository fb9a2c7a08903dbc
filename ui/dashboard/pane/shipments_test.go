package pane

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/sign"
)

// parcel is a shipment that was read, and changed so long ago.
func parcel(id string, status api.ShipmentStatus, ago time.Duration) *account.Shipment {
	return &account.Shipment{ID: api.ID(id), Product: api.Text(id), Certainty: account.Verified, ReadAt: noon,
		Latest: &api.Shipment{ID: api.ID(id), Status: status, UpdatedAt: noon.Add(-ago)}}
}

// names is what the pane's rows are called, from the top.
func (p *Shipments) names() []string {
	var names []string
	for _, row := range p.list.Found() {
		names = append(names, string(row.ID))
	}
	return names
}

func TestShipmentsInTroubleStandAboveThoseThatMove(t *testing.T) {
	l := look()
	p := NewShipments(l)
	p.SetPlace(Place{W: 100, H: 20})
	unread := &account.Shipment{ID: "not read"}
	all := []*account.Shipment{
		parcel("delivered", api.Delivered, 0), parcel("ordered", api.Ordered, 0), parcel("shipped", api.Shipped, 0), parcel("out", api.OutForDelivery, 0),
		parcel("canceled long ago", api.Canceled, 25*time.Hour), parcel("canceled", api.Canceled, 23*time.Hour), parcel("canceled now", api.Canceled, 0),
		parcel("lost", "lost_in_transit", time.Hour), parcel("delayed for long", api.Delayed, 40*time.Hour), parcel("delayed", api.Delayed, time.Minute), unread,
	}
	p.Apply(&account.Changes{Shipments: all, Whole: true}, true)
	want := []string{"delayed", "delayed for long", "canceled now", "canceled", "lost", "out", "shipped", "ordered", "not read", "canceled long ago", "delivered"}
	if got := p.names(); !slices.Equal(got, want) {
		t.Errorf("from the top: %v\nwant %v", got, want)
	}
	l.Now = noon.Add(2 * time.Hour)
	p.Apply(&account.Changes{}, false)
	want = []string{"delayed", "delayed for long", "canceled now", "lost", "out", "shipped", "ordered", "not read", "canceled", "canceled long ago", "delivered"}
	if got := p.names(); !slices.Equal(got, want) {
		t.Errorf("two hours later: %v\nwant %v", got, want)
	}
	p.Apply(&account.Changes{Shipments: []*account.Shipment{parcel("shipped", api.Delayed, -time.Hour)}}, false)
	if got := p.names(); got[0] != "shipped" || len(got) != len(want) {
		t.Errorf("a parcel that is delayed now does not stand at the top: %v", got)
	}
}

// TestACountOfShipmentsStandsBehindItsOwnSign: a narrow title leaves out a sign with its count,
// never one of both.
func TestACountOfShipmentsStandsBehindItsOwnSign(t *testing.T) {
	want := map[api.ShipmentStatus]int{api.Ordered: 8, api.Shipped: 20, api.Delayed: 4, api.OutForDelivery: 12, api.Delivered: 40, api.Canceled: 4}
	p := NewShipments(look())
	p.Apply(&account.Changes{Whole: true, Summary: account.Summary{Shipments: want}}, true)
	for w := 40; w <= 100; w++ {
		p.SetPlace(Place{W: w, H: 10})
		title := strings.SplitN(text(p.Lines()), "\n", 2)[0] + " "
		for status, n := range want {
			if sign := sign.Shipment(status).Glyph + " "; strings.Contains(title, sign) && !strings.Contains(title, sign+strconv.Itoa(n)+" ") {
				t.Errorf("%d columns: not %s%d in %q", w, sign, n, title)
			}
		}
	}
}

func TestOnlyAReadSaysThatThereIsNoTrackingYet(t *testing.T) {
	for _, width := range []int{100, 200} {
		p := NewShipments(look())
		p.SetPlace(Place{W: width, H: 20})
		p.Apply(&account.Changes{Shipments: []*account.Shipment{{ID: "not read"}, parcel("read", api.Ordered, 0), parcel("ended", api.Canceled, 0)}, Whole: true}, true)
		if got := text(p.Lines()); strings.Count(got, "no tracking yet") != 1 {
			t.Errorf("%d columns: one of three is read and still to come:\n%s", width, got)
		}
	}
}

func TestShipmentsOfUnknownAgeAreSortedLast(t *testing.T) {
	p := NewShipments(look())
	p.Apply(&account.Changes{Shipments: []*account.Shipment{{ID: "not read"}, parcel("new", api.Shipped, time.Minute), parcel("old", api.Shipped, time.Hour)}, Whole: true}, true)
	p.Sort("age", false)
	if got := p.names(); !slices.Equal(got, []string{"old", "new", "not read"}) {
		t.Errorf("from the top: %v", got)
	}
	p.Sort("", true)
	if got := p.names(); !slices.Equal(got, []string{"new", "old", "not read"}) {
		t.Errorf("reversed, from the top: %v", got)
	}
}

func TestAnUpdateOfAShipmentSaysToWhatWhereThatIsKnown(t *testing.T) {
	for _, c := range []struct {
		kind   api.EventType
		status api.ShipmentStatus
		want   string
	}{
		{api.ShipmentUpdated, "", "→ shipment updated "},
		{api.ShipmentUpdated, api.Shipped, "→ shipment shipped "},
		{api.ShipmentUpdated, api.Delayed, "! shipment delayed "},
		{api.ShipmentUpdated, api.OutForDelivery, "◔ out for delivery "},
		{api.ShipmentUpdated, api.Delivered, "✓ shipment delivered "},
		{api.ShipmentUpdated, api.Canceled, "✕ shipment canceled "},
		{api.ShipmentUpdated, "lost", "? shipment lost "},
		{api.ShipmentUpdated, "held_at_customs_for_inspection", "? held at customs"},
		{api.ShipmentCreated, "", "○ shipment created "},
	} {
		for _, width := range []int{200, 80, 60} {
			p := NewEvents(look(), noIntent)
			p.SetPlace(Place{W: width, H: 8})
			e := &account.Event{ID: "evt_1", Type: c.kind, Status: c.status, SourceID: "shp_1", Product: "Mug", Received: noon}
			p.Apply(&account.Changes{Events: []*account.Event{e}}, true)
			if got := text(p.Lines()); !strings.Contains(got, c.want) || !strings.Contains(got, "Mug") {
				t.Errorf("%d columns, %s %s: no %q in\n%s", width, c.kind, c.status, c.want, got)
			}
		}
	}
}
