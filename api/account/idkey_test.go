package account

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"tillwatch/api"
)

func TestKeysOfIdsThatTheServiceGivesAreTheWholeId(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.SliceOfN(rapid.Byte(), 16, 16)
		one, other := digits.Draw(t, "one"), digits.Draw(t, "other")
		if rapid.Bool().Draw(t, "alike") {
			copy(other, one)
			other[rapid.IntRange(0, 15).Draw(t, "place")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		a, exact := PackID("ci_" + hex.EncodeToString(one))
		b, alsoExact := PackID("ci_" + hex.EncodeToString(other))
		if !exact || !alsoExact || (a == b) != (string(one) == string(other)) {
			t.Fatalf("%x has %x (%t) and %x has %x (%t)", one, a, exact, other, b, alsoExact)
		}
		first, second := api.ID("ci_"+hex.EncodeToString(one)), api.ID("ci_"+hex.EncodeToString(other))
		if a.ID() != first || b.ID() != second {
			t.Fatalf("%s is told as %s, and %s as %s", first, a.ID(), second, b.ID())
		}
		if got, want := a.Compare(b), cmp.Compare(first, second); got != want {
			t.Fatalf("%s compares with %s as %d, want %d", first, second, got, want)
		}
	})
}

func TestIdsOfAnyOtherFormHaveNoKeyOfTheirOwn(t *testing.T) {
	const good = "ci_0123456789abcdef0123456789abcdef"
	if _, exact := PackID(good); !exact {
		t.Fatalf("%s is of the service's form", good)
	}
	for _, id := range []string{"", "ci_", good[1:], good + "0", "CI_" + good[3:], "shp" + good[3:], good[:34]} {
		if _, exact := PackID(id); exact {
			t.Errorf("%q is taken for an id of the service's form", id)
		}
	}
	for place := 3; place < len(good); place++ {
		for c := range 256 {
			id := []byte(good)
			id[place] = byte(c)
			digit := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
			if _, exact := PackID(string(id)); exact != digit {
				t.Errorf("with the byte %#x at %d, the form is the service's: %t", c, place, exact)
			}
		}
	}
}

func TestIntentsOfAnyIdAreTold(t *testing.T) {
	s := NewStore(StoreConfig{})
	var ids []api.ID
	for i := range 500 {
		ids = append(ids, benchID(i), api.ID(fmt.Sprint("ci_", i)), api.ID(fmt.Sprintf("CI_%032X", i)), api.ID(fmt.Sprintf("ci_%031xé", i)))
	}
	for _, id := range ids {
		if s.findIntent(id) != nil {
			t.Fatalf("%s is known before it was told of", id)
		}
		s.know(id)
	}
	for _, id := range ids {
		if in, ok := s.Intent(id); !ok || in.ID != id {
			t.Errorf("%s: %+v", id, in)
		}
	}
}

func TestIntentsFillThePagesThatTheyLieIn(t *testing.T) {
	const page = 8 << 10 // of the runtime, which rounds large pieces of memory up to it
	if size := unsafe.Sizeof(intentRecord{}); size > 144 || size*intentsPerBlock%page != 0 {
		t.Errorf("an intent takes %d bytes, want at most 144, and %d of them whole pages: there may be 100,000", size, intentsPerBlock)
	}
}
