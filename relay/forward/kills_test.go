package forward

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

var errKilled = errors.New("killed")

// kill has a forwarder leave behind what a kill -9 would: nothing of what it has not
// committed, and no word to anyone.
func (f *Forwarder) kill() {
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	f.state.failed = errKilled
	f.state.rollback()
}

// hardship is a target that takes an event in order, fails a third, hangs, is
// restarted, and never takes some.
type hardship struct {
	*endpoint
	poison  map[api.ID]bool
	bySeq   map[string][]api.ID // the events of each source, in order
	refuses bool
}

// TestEveryEventArrivesInOrderWhateverHappens runs a forwarder through what is told
// above, and kills it 20 times.
func TestEveryEventArrivesInOrderWhateverHappens(t *testing.T) {
	events, sources, poisoned := unlessRaced(10_000, 300), unlessRaced(2_500, 60), unlessRaced(20, 3)
	dice := rand.New(rand.NewPCG(3, 4))
	synctest.Test(t, func(t *testing.T) {
		h := &hardship{poison: map[api.ID]bool{}, bySeq: map[string][]api.ID{}}
		j := newJournal()
		happen := func(i int) {
			source := fmt.Sprintf("ci_%d", i*7%sources)
			id := j.add(t, source, api.IntentCompleted)
			h.bySeq[source] = append(h.bySeq[source], id)
			if i%(events/poisoned) == 3 {
				h.poison[id] = true
			}
		}
		h.endpoint = newEndpoint(func(e api.Event, dice *rand.Rand) verdict {
			switch n := dice.IntN(300); {
			case h.refuses:
				return verdict{}
			case h.poison[e.ID], n < 99:
				return verdict{status: 500}
			case n == 99:
				return verdict{hangs: true}
			}
			return verdict{status: 200}
		})
		h.seen = func(e api.Event) { h.mustBeInOrder(t, e) }
		config := Config{
			State: filepath.Join(t.TempDir(), "state"), Targets: []Target{{URL: "http://target"}}, GiveUp: time.Hour,
			Sender: Sender{Prefix: "x-svc-", Transport: h}, Subscribe: j.subscribe,
		}
		const kills = 20
		for n := range kills {
			for i := n * events / kills; i < (n+1)*events/kills; i++ {
				happen(i)
			}
			h.refuses = dice.IntN(4) == 0
			f := mustOpen(t, config)
			ended := make(chan error, 1)
			go func() { ended <- f.Run(t.Context()) }()
			time.Sleep(time.Duration(dice.IntN(1_000)) * time.Millisecond)
			f.kill()
			if err := <-ended; !errors.Is(err, errKilled) {
				t.Errorf("a killed forwarder ends with %v", err)
			}
			f.Close()
			h.mustHaveBehindTheCursor(t, config, j)
		}
		h.refuses = false
		f := mustOpen(t, config)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx) }()
		time.Sleep(12 * time.Hour)
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		waiting, dead, err := f.state.counts()
		if err != nil || waiting["http://target"] != 0 || dead["http://target"] != len(h.poison) {
			t.Errorf("%v wait, %v are dead, %v", waiting, dead, err)
		}
		all, _, err := f.state.Dead(0, events)
		for _, d := range all {
			if !h.poison[d.Event.ID] || d.Delivery.Attempts < 2 || d.Delivery.Status != 500 || h.taken[d.Event.ID] != 0 {
				t.Errorf("dead is %s after %d attempts: %v", d.Event.ID, d.Delivery.Attempts, err)
			}
		}
		if len(h.taken) != events-len(h.poison) {
			t.Errorf("%d of %d events were taken, %d are never", len(h.taken), events, len(h.poison))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// mustBeInOrder holds that those before an event of the same source were taken.
func (h *hardship) mustBeInOrder(t *testing.T, e api.Event) {
	all := h.bySeq[string(e.Source.ID)]
	for _, before := range all[:slices.Index(all, e.ID)] {
		if h.taken[before] == 0 && !h.poison[before] {
			t.Errorf("%s of %s is tried before %s was taken", e.ID, e.Source.ID, before)
		}
	}
}

// mustHaveBehindTheCursor holds that the target has every event that the cursor has
// passed, or that it is on disk.
func (h *hardship) mustHaveBehindTheCursor(t *testing.T, config Config, j *journal) {
	t.Helper()
	state, err := OpenState(config.State)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	cursor, err := state.cursor(config.Targets[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.subscribe(config.Targets[0], cursor)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := state.held(selectHeld)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[api.ID]bool{}
	for _, row := range rows {
		kept[row.Event.ID] = true
	}
	for _, item := range j.items[:s.Status().Cursor] {
		if h.taken[item.Event.ID] == 0 && !kept[item.Event.ID] {
			t.Errorf("the cursor %s has passed %s, which the target has not taken", cursor, item.Event.ID)
		}
	}
}

func mustOpen(t *testing.T, config Config) *Forwarder {
	t.Helper()
	f, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
