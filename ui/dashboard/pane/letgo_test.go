package pane

import (
	"fmt"
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

// What a title says beside the counts gives way to them.
func TestTheTitleOfIntentsShowsAllCountsFrom60ColumnsOn(t *testing.T) {
	for name, change := range map[string]func(*Intents){
		"as it is":             func(*Intents) {},
		"sorted":               func(p *Intents) { p.Sort("total", false) },
		"with a marked intent": func(p *Intents) { p.SetMarked("ci_awaiting_1", true) },
	} {
		t.Run(name, func(t *testing.T) {
			p := NewIntents(look(), api.ConfirmWindow)
			p.SetPlace(Place{W: 60, H: 12, Stacked: true})
			changes := account.Changes{Summary: account.Summary{LetGo: 1, LastRead: noon}}
			for state, count := range map[api.IntentState]int{api.AwaitingConfirmation: 27, api.Completed: 1214, api.Failed: 381} {
				for n := range count {
					in := intentOf(fmt.Sprintf("ci_%s_%d", strings.TrimSuffix(string(state), "_confirmation"), n), state, time.Minute)
					if n == 0 {
						in.Certainty = account.Reported
					}
					changes.Intents = append(changes.Intents, in)
				}
			}
			p.Apply(&changes, true)
			change(p)
			title, _, _ := strings.Cut(text(p.Lines()), "\n")
			if !strings.Contains(title, "INTENTS 1,622") || !strings.Contains(title, "◌ –  ◆ 27  ▸ –  ✓ 1,214  ✕ 381") {
				t.Errorf("the title is %q", title)
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
