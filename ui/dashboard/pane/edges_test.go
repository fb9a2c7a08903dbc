package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
)

// endOf returns how many cells a line takes without its trailing blanks.
func endOf(line string) int { return paint.Width(strings.TrimRight(line, " ")) }

// A title, the rule below it and what stands at the right of a row end in one column.
func TestAPaneHasOneRightEdge(t *testing.T) {
	shipments := NewShipments(look())
	shipments.Apply(&account.Changes{Shipments: []*account.Shipment{parcel("shp_1", api.OutForDelivery, 0)},
		Summary: account.Summary{Shipments: map[api.ShipmentStatus]int{api.OutForDelivery: 1}}}, true)
	limits := NewQuota(look())
	limits.Apply(&account.Changes{Summary: account.Summary{Quota: []quota.Bucket{{Class: quota.Reads, Limit: 10, Remaining: 5, ObservedAt: noon, Window: time.Second,
		Hour: []quota.Sample{{At: noon, Known: true, Own: 3}}, History: []quota.Sample{{At: noon, Known: true, Own: 3}}}}}}, true)
	alerts := NewAlerts(look(), nil)
	alerts.Apply(&account.Changes{Summary: account.Summary{Alerts: []account.Alert{{Kind: account.AlertFailed, Text: "It failed", Intent: "ci_1", Since: noon}}}}, true)
	pulse := NewPulse(look())
	pulse.look.Pulse = func() *account.Pulse {
		return &account.Pulse{At: noon, Known: noon.Add(-time.Hour), Hour: make([]account.Beat, 60), Day: make([]account.Beat, 96)}
	}
	for _, c := range []struct {
		name string
		pane interface {
			SetPlace(Place)
			Lines() []string
		}
		h int
	}{{"shipments", shipments, 12}, {"quota", limits, 14}, {"quota with charts", limits, 40}, {"alerts", alerts, 12}, {"pulse", pulse, 12}, {"pulse with latencies", pulse, 40}} {
		for _, w := range []int{110, 120, 131, 160, 200, 250} {
			c.pane.SetPlace(Place{W: w, H: c.h})
			lines := strings.Split(text(c.pane.Lines()), "\n")
			for y, line := range lines {
				switch tabs := strings.HasPrefix(line, " EVENTS"); {
				case y == 0 && !tabs, strings.HasPrefix(line, " SPENT"), strings.HasPrefix(line, " SPENDERS"), strings.Contains(line, "limit "), c.name == "pulse with latencies" && strings.HasSuffix(strings.TrimRight(line, " "), "   now"), strings.Contains(line, "ci_1"):
					if endOf(line) != w {
						t.Errorf("%s, %d columns: %q ends in column %d", c.name, w, line, endOf(line))
					}
				}
			}
		}
	}
}

// A word of the service that is as long as its column stays apart from the next one.
func TestALongStateIsApartFromTheProduct(t *testing.T) {
	const long = "eaten_by_a_very_large_grue_of_the_sea"
	in := *intentOf("ci_1", long, time.Minute)
	in.Product, in.ReferenceID = "Mug", "order-7"
	lost := &account.Shipment{ID: "shp_1", Product: "Mug", Certainty: account.Verified, ReadAt: noon, Latest: &api.Shipment{ID: "shp_1", Status: long, Tracking: &api.Tracking{Carrier: "Mug"}}}
	happened := &account.Event{ID: "evt_1", Type: "checkout_intent." + long, Product: "Mug", Received: noon}
	shipments, events := NewShipments(look()), NewEvents(look(), noIntent)
	shipments.Apply(&account.Changes{Shipments: []*account.Shipment{lost}}, true)
	events.Apply(&account.Changes{Events: []*account.Event{happened}}, true)
	order, one := NewDetail(look(), api.ConfirmWindow), NewDetail(look(), api.ConfirmWindow)
	order.Open(Subject{Kind: OfOrder, ID: "order-7"})
	order.SetFacts(Facts{Order: account.NewOrder("order-7", []*account.Intent{&in})})
	one.Open(Subject{Kind: OfIntent, ID: "ci_1"})
	one.SetFacts(Facts{Intent: &account.IntentDetail{Intent: in, Latest: &api.Intent{ID: "ci_1", State: long}}, Shipments: []*account.Shipment{lost}})
	for _, p := range []interface {
		SetPlace(Place)
		Lines() []string
	}{intents(100, 20, &in), shipments, events, order, one} {
		for w := 60; w <= 200; w += 10 {
			p.SetPlace(Place{W: w, H: 40})
			if got := text(p.Lines()); strings.Contains(got, "…Mug") || !strings.Contains(got, "Mug") {
				t.Errorf("%T, %d columns:\n%s", p, w, got)
			}
		}
	}
}

func TestAReasonAndItsMerchantAreApart(t *testing.T) {
	in := intentOf("ci_1", api.Failed, time.Hour)
	in.Merchant, in.ReadAt = "spice-lab.example", noon
	in.Failure = &api.FailureReason{Code: "variant_selections_invalid"}
	for w := 108; w <= 250; w++ {
		got := text(intents(w, 12, in).Lines())
		if strings.Contains(got, "invalid spice") {
			t.Fatalf("%d columns: they read as one:\n%s", w, got)
		}
	}
}
