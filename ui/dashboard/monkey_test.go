package dashboard

import (
	"context"
	"flag"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// monkeyFor is how long the monkey plays:
//
//	go test ./ui/dashboard -run TestMonkey -monkey 1h -timeout 0
//
// What it finds shrinks to a few steps and is kept in testdata/rapid, in a file
// that -rapid.failfile plays again.
var monkeyFor = flag.Duration("monkey", 0, "how long the monkey plays with the dashboard; by default a few seconds")

// TestMonkey does whatever a person can do, in any order, while the picture
// changes in any way. The actions are those of the table: a new one is tried the
// day it is added.
func TestMonkey(t *testing.T) {
	if *monkeyFor == 0 {
		bound(t, 8, 25)
	} else {
		bound(t, 50, 60)
	}
	for _, board := range []struct {
		name  string
		share float64 // of the time
		open  func(t *rapid.T, ctx context.Context) *monkey
	}{
		{"live", 0.75, liveMonkey},
		{"replay", 0.25, replayMonkey},
	} {
		t.Run(board.name, func(t *testing.T) {
			var steps int
			defer func() { t.Logf("%d steps", steps) }()
			play := func(t *rapid.T) {
				rapid.SyncTest(t, func(t *rapid.T) { steps += playOn(t, board.open) })
			}
			if *monkeyFor == 0 {
				rapid.Check(t, play)
				return
			}
			end := time.Now().Add(time.Duration(board.share * float64(*monkeyFor)))
			for time.Now().Before(end) && !t.Failed() {
				rapid.Check(t, play)
			}
		})
	}
}

// bound sets how often a property is checked, and in how many steps, unless the
// command line says so.
func bound(t *testing.T, checks, steps int) {
	t.Helper()
	for name, n := range map[string]int{"rapid.checks": checks, "rapid.steps": steps} {
		before := flag.Lookup(name).Value.String()
		if before != flag.Lookup(name).DefValue {
			continue
		}
		if err := flag.Set(name, strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, before) })
	}
}

// playOn plays with a new board, and returns in how many steps.
func playOn(t *rapid.T, open func(*rapid.T, context.Context) *monkey) (played int) {
	ctx, cancel := context.WithCancel(t.Context())
	k := open(t, ctx)
	t.Cleanup(func() {
		cancel()
		k.close()
	})
	steps := map[string]func(*rapid.T){"": func(*rapid.T) { k.check() }}
	for name, step := range k.steps {
		steps[name] = func(t *rapid.T) {
			k.t = t
			played++
			step()
		}
	}
	t.Repeat(steps)
	k.t = t
	k.leave()
	return played
}
