package account

import "testing"

func TestReadsThatChangedNothingAreKnownByTheirWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint32 // 0: they are something else
	}{
		{"unchanged (1 read)", 1},
		{"unchanged (26 reads)", 26},
		{"26 reads that changed nothing", 26}, // as earlier versions saved them
		{"1 read that changed nothing", 1},
		{"unchanged (1 reads)", 0},
		{"unchanged (0 reads)", 0},
		{"unchanged", 0},
		{"26 reads", 0},
	} {
		n, ok := readsFromWords(c.text)
		if ok != (c.want > 0) || ok && n != c.want {
			t.Errorf("%q stands for %d reads (%v), want %d", c.text, n, ok, c.want)
		}
	}
}
