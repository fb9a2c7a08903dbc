package account

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tillwatch/api"
)

func TestIDsThatAreKeptComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newKeptIDs()
		var ids []api.ID
		for range rapid.IntRange(1, 200).Draw(t, "ids") {
			id := api.ScrubID(rapid.OneOf(
				rapid.StringMatching(`(evt_)?[a-z_]{0,9}[0-9a-f]{0,41}`), rapid.String(),
				rapid.Just(strings.Repeat("f", api.MaxID+3)), rapid.Just(strings.Repeat("é", 900)),
			).Draw(t, "id"))
			ids = append(ids, id)
			if got := k.id(k.keep(id)); got != id {
				t.Fatalf("%q came back as %q", id, got)
			}
		}
		for i, number := 0, uint32(0); i < len(ids); i++ {
			if ids[i] == "" {
				continue
			}
			if number++; k.id(number) != ids[i] {
				t.Fatalf("%q is %q once others are kept", ids[i], k.id(number))
			}
		}
	})
}

func TestAUsualEventIDTakes30Bytes(t *testing.T) {
	k := newKeptIDs()
	k.keep("evt_00000000000000000000000000000000000f4240")
	if n := len(k.rooms[0]); n > 26 {
		t.Errorf("it takes %d bytes beside its place", n)
	}
}
