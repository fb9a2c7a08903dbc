package account

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tillwatch/api"
)

// TestATableListsWhatChangedSinceAVersion holds for whoever follows it by changes
// alone, however rarely, and for every value that was handed out.
func TestATableListsWhatChangedSinceAVersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newShipmentTable(&news{})
		followed := map[api.ID]*Shipment{}
		var handedOut []*Shipment
		var copies []Shipment
		seen := uint64(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			table.news.publish()
			for range rapid.IntRange(1, 3).Draw(t, "edits") {
				id := api.ID(fmt.Sprint("shp_", rapid.IntRange(0, 20).Draw(t, "id")))
				if table.get(id) != nil && rapid.IntRange(0, 4).Draw(t, "let go") == 0 {
					table.drop(id)
					continue
				}
				table.edit(id).Product += "x"
			}
			if !rapid.Bool().Draw(t, "look") {
				continue
			}
			gone, complete := table.goneSince(seen)
			if !complete {
				t.Fatal("what was let go is not known")
			}
			for _, id := range gone {
				delete(followed, id)
			}
			for _, sh := range table.since(seen) {
				followed[sh.ID] = sh
				handedOut, copies = append(handedOut, sh), append(copies, *sh)
			}
			seen = table.news.version
			if len(followed) != len(table.byID) {
				t.Fatalf("%d values are followed, %d are kept", len(followed), len(table.byID))
			}
			for id, sh := range followed {
				if table.get(id) != sh {
					t.Fatalf("%s is followed as %+v and kept as %+v", id, sh, table.get(id))
				}
			}
		}
		for i := range handedOut {
			if *handedOut[i] != copies[i] {
				t.Fatalf("%+v has become %+v", copies[i], *handedOut[i])
			}
		}
	})
}

func TestATableForgetsWhatItLetGoLongAgoAndSaysSo(t *testing.T) {
	table := newShipmentTable(&news{})
	for n := range uint64(3 * mostGone) {
		id := api.ID(fmt.Sprint("shp_", n))
		table.edit(id)
		table.drop(id)
		table.news.publish()
	}
	if _, complete := table.goneSince(1); complete {
		t.Error("it knows all that was let go")
	}
	if ids, complete := table.goneSince(3*mostGone - 2); !complete || !slices.Equal(ids, []api.ID{api.ID(fmt.Sprint("shp_", 3*mostGone-2)), api.ID(fmt.Sprint("shp_", 3*mostGone-1))}) {
		t.Errorf("let go last: %v (%t)", ids, complete)
	}
	if len(table.gone) > 2*mostGone || len(table.changed) > 100 {
		t.Errorf("%d that are gone and %d changes are remembered", len(table.gone), len(table.changed))
	}
}
