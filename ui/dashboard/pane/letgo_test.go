package pane

import (
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestIntentsThatAreLetGoLeaveTheBoardAndItSaysSo(t *testing.T) {
	for name, width := range map[string]int{"in lanes": 160, "in a list": 80} {
		t.Run(name, func(t *testing.T) {
			p := NewIntents(look(), api.ConfirmWindow)
			p.SetPlace(Place{W: width, H: 12})
			older, newer := intentOf("ci_older", api.Completed, time.Hour), intentOf("ci_newer", api.Completed, time.Minute)
			older.Product, newer.Product = "Older Mug", "Newer Mug"
			p.Apply(&account.Changes{Intents: []*account.Intent{older, newer}}, true)
			if got := text(p.Lines()); !strings.Contains(got, "Older Mug") || strings.Contains(got, "not kept") {
				t.Fatalf("before anything is let go:\n%s", got)
			}
			p.Apply(&account.Changes{GoneIntents: []api.ID{"ci_older", "ci_unknown"}, Summary: account.Summary{LetGo: 1}}, false)
			got := text(p.Lines())
			if strings.Contains(got, "Older Mug") || !strings.Contains(got, "Newer Mug") || !strings.Contains(got, "older ones are not kept") {
				t.Errorf("after one was let go:\n%s", got)
			}
			if p.Select("ci_older") {
				t.Error("the pane still knows it")
			}
		})
	}
}

func TestShipmentsThatAreLetGoLeaveTheList(t *testing.T) {
	p := NewShipments(look())
	p.SetPlace(Place{W: 80, H: 12})
	p.Apply(&account.Changes{Shipments: []*account.Shipment{{ID: "shp_1", Product: "Older Mug"}, {ID: "shp_2", Product: "Newer Mug"}}}, true)
	p.Apply(&account.Changes{GoneShipments: []api.ID{"shp_1"}}, false)
	if got := text(p.Lines()); strings.Contains(got, "Older Mug") || !strings.Contains(got, "Newer Mug") {
		t.Errorf("after one was let go:\n%s", got)
	}
}
