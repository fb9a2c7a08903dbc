package account

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestPackedReadsAreKeptEachUnderItsOwnNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := packedReads{texts: newBlocks[string](packedPerBlock)}
		numbers, want := make([]uint32, 8), make([]string, 8)
		most := 0
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			at := rapid.IntRange(0, 7).Draw(t, "record")
			if rapid.Bool().Draw(t, "drop") {
				p.drop(&numbers[at])
				want[at] = ""
			} else {
				want[at] = fmt.Sprint("read ", i)
				p.put(&numbers[at], want[at])
			}
			held := 0
			for j, number := range numbers {
				if number == 0 && want[j] != "" || number != 0 && p.text(number) != want[j] {
					t.Fatalf("record %d holds number %d, want %q", j, number, want[j])
				}
				if number != 0 {
					held++
				}
			}
			most = max(most, held)
		}
		if int(p.texts.last) > most {
			t.Fatalf("%d places were made for %d reads at the most", p.texts.last, most)
		}
	})
}
