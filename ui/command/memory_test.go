package command

import "testing"

func TestMemoryIsGivenBackOnceSettledAndWhenQuiet(t *testing.T) {
	const mib = 1 << 20
	steps := []struct {
		name      string
		settled   bool
		allocated uint64
		idle      uint64
		want      bool
	}{
		{"while a history loads", false, 500 * mib, 90 * mib, false},
		{"still", false, 900 * mib, 90 * mib, false},
		{"once it is loaded, though more comes", true, 1300 * mib, 0, true},
		{"while much comes", true, 1700 * mib, 9 * mib, false},
		{"when little comes", true, 1701 * mib, 0, true},
		{"when there is hardly any", true, 1702 * mib, 0, false},
		{"when that adds up", true, 1704 * mib, 0, true},
		{"while much comes again", true, 1800 * mib, 9 * mib, false},
		{"and much has been idle for a while", true, 1900 * mib, 9 * mib, true},
		{"and little is idle", true, 2000 * mib, 1 * mib, false},
		{"for long", true, 2100 * mib, 1 * mib, false},
	}
	var h hoard
	for _, s := range steps {
		h.settled = s.settled
		if got := h.look(memory{allocated: s.allocated, idle: s.idle}); got != s.want {
			t.Fatalf("%s: given back %t, want %t", s.name, got, s.want)
		}
		h.started = h.started || h.given > 0
	}
}

func TestTheMoreIsInUseTheLessGarbageGathersBesideIt(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 40}, {1 << 20, 40}, {10 << 20, 25}, {25 << 20, 10}, {40 << 20, 6}, {1 << 30, 5}} {
		if got := garbagePercent(c.live); got != c.want {
			t.Errorf("%d MiB in use: %d %%, want %d %%", c.live>>20, got, c.want)
		}
	}
}
