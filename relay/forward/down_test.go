package forward

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestATargetThatWasDownGetsAllSoonAfterItIsBack(t *testing.T) {
	const unreachable, failing = 0, 503
	for _, c := range []struct {
		name      string
		sources   int
		down      int // its answer meanwhile
		restarted bool
	}{
		{"many sources, unreachable", 500, unreachable, false},
		{"few sources, unreachable", 3, unreachable, false},
		{"few sources, unreachable, after a restart", 3, unreachable, true},
		{"many sources, failing", 500, failing, false},
		{"many sources, failing, after a restart", 500, failing, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, status := newJournal(), c.down
				e := newEndpoint(func(api.Event, *rand.Rand) verdict { return verdict{status: status} })
				for i := range 2 * c.sources {
					j.add(t, strconv.Itoa(i%c.sources), "x")
				}
				f := start(t, j, e)
				pass(2 * time.Hour) // each source has been tried
				if c.restarted {
					f.stop()
					f.begin()
					pass(10 * time.Minute)
				}
				var before, tried, taken int
				e.set(func() { before = len(e.tried) })
				pass(time.Hour)
				e.set(func() { tried = len(e.tried) })
				if n := tried - before; n < 100 || n > 1_000 {
					t.Errorf("in an hour it is asked %d times", n)
				}
				e.set(func() { status = 200 })
				pass(lastProbe + 5*time.Second)
				e.set(func() { taken = len(e.taken) })
				if taken != 2*c.sources {
					t.Errorf("soon after it is back, it has %d of %d", taken, 2*c.sources)
				}
				f.stop()
			})
		})
	}
}
