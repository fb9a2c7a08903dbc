package command

import "testing"

func TestMemoryIsGivenBackOnceSettledAndWhenQuiet(t *testing.T) {
	const mib = 1 << 20
	steps := []struct {
		name      string
		settled   bool
		allocated uint64
		want      bool
	}{
		{"while a history loads", false, 500 * mib, false},
		{"still", false, 900 * mib, false},
		{"once it is loaded, though more comes", true, 1300 * mib, true},
		{"while much comes", true, 1700 * mib, false},
		{"when little comes", true, 1701 * mib, true},
		{"when there is hardly any", true, 1702 * mib, false},
		{"when that adds up", true, 1704 * mib, true},
	}
	var h hoard
	for _, s := range steps {
		h.settled = s.settled
		if got := h.look(s.allocated); got != s.want {
			t.Fatalf("%s: given back %t, want %t", s.name, got, s.want)
		}
		h.started = h.started || h.given > 0
	}
}
