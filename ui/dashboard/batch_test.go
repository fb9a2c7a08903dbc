package dashboard

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/action"
)

// till is a Confirmer that counts what is on its way, and a shop whose intents
// it places.
type till struct {
	mu       sync.Mutex
	sent     []api.ID
	totals   []string // of what was sent
	flying   int
	most     int
	outcomes map[api.ID]confirm.Outcome // accepted where there is none
}

func (g *till) Confirm(_ context.Context, p confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome {
	progress(confirm.Progress{Stage: confirm.Sending, Try: 1})
	g.mu.Lock()
	g.sent, g.totals = append(g.sent, p.ID), append(g.totals, p.Total.String())
	g.flying++
	g.most = max(g.most, g.flying)
	outcome, told := g.outcomes[p.ID]
	g.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flying--
	if !told {
		outcome.Verdict = confirm.Accepted
	}
	return outcome
}

// queueShop has n awaiting intents and free quota.
func queueShop(n int) (*shop, []api.ID) {
	s := newShop(time.Now())
	var ids []api.ID
	for i := range n {
		ids = append(ids, s.intent(i, api.AwaitingConfirmation, time.Duration(20-i)*time.Minute).ID)
	}
	s.changes.Summary.Agents = account.AgentCount{Limit: 10}
	return s, ids
}

// markAll marks every intent, opens the batch and says yes.
func markAll(m *Model, n int) tea.Cmd {
	press(m, "g")
	for range n {
		press(m, "x")
	}
	press(m, "X")
	rest(m)
	return press(m, "C")
}

// place moves an intent on, as the store would after a confirm.
func (s *shop) place(id api.ID, state api.IntentState) {
	for _, in := range s.changes.Intents {
		if in.ID == id {
			moved := *in
			moved.State, moved.Since = state, time.Now()
			s.put(&moved)
			break
		}
	}
	s.changes.Summary.Agents.Placing = s.changes.Summary.Intents[api.PlacingOrder]
}

// run drives the program until no command is left; after each message the store
// tells that what was accepted is being placed.
func (s *shop) run(m *Model, g *till, cmd tea.Cmd) {
	for cmd != nil {
		msg := cmd()
		if _, ok := msg.(tea.BatchMsg); ok {
			panic("a batch of commands that the test does not know")
		}
		if o, ok := msg.(outcomeMsg); ok && o.outcome.Verdict == confirm.Accepted {
			s.place(o.run.id, api.PlacingOrder)
			m.apply(&s.changes)
		}
		_, cmd = m.Update(msg)
	}
}

func TestABatchOf14SendsTenAndGoesOnAsAgentsFreeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ids := queueShop(14)
		g := &till{}
		m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, g })
		s.run(m, g, markAll(m, 14))
		if len(g.sent) != 10 || g.most != 1 {
			t.Fatalf("%d sent, %d at a time; want 10, one after another", len(g.sent), g.most)
		}
		if got := screen(m); m.batch.queue == nil {
			t.Fatalf("the batch has ended:\n%s", got)
		}
		time.Sleep(2 * toastFor)
		m.Update(tickMsg{})
		if got := screen(m); !strings.Contains(got, "BATCH 10 of 14 done · waiting for a free agent · K stops it") || !strings.Contains(got, "queued") {
			t.Errorf("nothing says what it waits for:\n%s", got)
		}
		press(m, "space")
		if got := screen(m); !strings.Contains(got, "FROZEN ▸ BATCH 10 of 14 done") {
			t.Errorf("nothing says that the screen is frozen:\n%s", got)
		}
		press(m, "space")
		for i := range 4 {
			s.place(ids[i], api.Completed)
			m.apply(&s.changes)
			s.run(m, g, m.batch.sendNext(m.ctx))
			if want := 11 + i; len(g.sent) != want {
				t.Fatalf("%d sent after %d agents are free again, want %d", len(g.sent), i+1, want)
			}
		}
		if got := screen(m); m.batch.queue != nil || !strings.Contains(got, "batch: 14 accepted") {
			t.Errorf("the end is not shown:\n%s", got)
		}
		seen := map[api.ID]bool{}
		for _, id := range g.sent {
			if seen[id] {
				t.Errorf("%s was sent twice", id)
			}
			seen[id] = true
		}
	})
}

func TestABatchCountsWhatTheBoardHasNotLearntYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := queueShop(14)
		g := &till{}
		m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, g })
		settle(m, markAll(m, 14)) // the picture goes on saying that all are awaiting
		if len(g.sent) != 10 {
			t.Errorf("%d sent, want 10", len(g.sent))
		}
	})
}

func TestABatchWaitsForTheMutationsBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := queueShop(2)
		s.changes.Summary.Quota = []quota.Bucket{{Class: quota.Mutations, Limit: 5, Window: time.Minute, Remaining: 0, Reset: time.Minute, ObservedAt: time.Now().Add(3 * time.Second)}}
		g := &till{}
		m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, g })
		settle(m, markAll(m, 2))
		if len(g.sent) != 0 || !strings.Contains(m.batch.waits(), "quota of mutations") {
			t.Fatalf("%d sent without quota", len(g.sent))
		}
		time.Sleep(2 * time.Minute)
		s.run(m, g, m.batch.sendNext(m.ctx))
		if len(g.sent) != 2 {
			t.Errorf("%d sent after the bucket was full again, want 2", len(g.sent))
		}
	})
}

func TestABatchStopsWhereAnOutcomeIsInDoubt(t *testing.T) {
	cases := []struct {
		outcome confirm.Outcome
		sent    int
		says    string
	}{
		{confirm.Outcome{Verdict: confirm.Unknown}, 2, "1 accepted, 1 ended otherwise, 2 not sent: stopped, one was unknown ("},
		{confirm.Outcome{Verdict: confirm.NotSent}, 2, "2 not sent: stopped, one was not sent"},
		{confirm.Outcome{Verdict: confirm.Refused}, 2, "2 not sent: stopped, one was refused"},
		{confirm.Outcome{Verdict: confirm.Accepted, Differences: []confirm.Difference{{What: "total", Seen: "44.52 USD", Now: "9999.00 USD"}}}, 2, "2 not sent: stopped, one was placed at another total"},
		{confirm.Outcome{Verdict: confirm.Accepted, Intent: &api.Intent{State: api.Failed}}, 4, "3 accepted, 1 ended otherwise"},
		{confirm.Outcome{Verdict: confirm.Changed}, 4, "3 accepted, 1 ended otherwise"},
		{confirm.Outcome{Verdict: confirm.Already}, 4, "3 accepted, 1 ended otherwise"},
		{confirm.Outcome{Verdict: confirm.NotConfirmable}, 4, "3 accepted, 1 ended otherwise"},
	}
	for _, c := range cases {
		t.Run(string(c.outcome.Verdict), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, ids := queueShop(4)
				g := &till{outcomes: map[api.ID]confirm.Outcome{ids[1]: c.outcome}}
				m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, g })
				settle(m, markAll(m, 4))
				got := screen(m)
				if len(g.sent) != c.sent || !strings.Contains(got, c.says) || !strings.Contains(got, string(c.outcome.Verdict)) {
					t.Errorf("%d sent, want %d and %q:\n%s", len(g.sent), c.sent, c.says, got)
				}
				if m.batch.queue != nil || strings.Contains(got, "queued") {
					t.Error("it has not ended")
				}
			})
		})
	}
}

func TestABatchIsStoppedByItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := queueShop(5)
		g := &till{}
		m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, g })
		cmd := markAll(m, 5)
		_, cmd = m.Update(cmd()) // it is on its way
		if got := press(m, "q"); got != nil {
			t.Error("the first q quits while a batch is under way")
		}
		press(m, "K")
		settle(m, cmd)
		if len(g.sent) != 1 || m.batch.queue != nil {
			t.Errorf("%d sent after it was stopped, want the one that was on its way", len(g.sent))
		}
		if got := screen(m); !strings.Contains(got, "batch: 1 accepted, 4 not sent: stopped, by hand") {
			t.Errorf("the end is not shown:\n%s", got)
		}
	})
}

func TestWhatIsQueuedIsLookedAtAgainBeforeItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ids := queueShop(3)
		g := &till{}
		m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, g })
		cmd := markAll(m, 3)
		s.place(ids[1], api.Failed)
		m.apply(&s.changes)
		settle(m, cmd)
		if len(g.sent) != 2 {
			t.Errorf("sent %v although the second has failed meanwhile", g.sent)
		}
	})
}

func TestTheBatchDialogHasItsGuards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := queueShop(3)
		g := &till{}
		m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, g })
		press(m, "x", "x", "X")
		if got := screen(m); !strings.Contains(got, "Confirm several orders") || !strings.Contains(got, "2 orders") {
			t.Fatalf("no dialog:\n%s", got)
		}
		settle(m, press(m, "C", "enter", "y"))
		time.Sleep(5 * time.Second) // a stall: no message has come behind the keys
		settle(m, press(m, "C"))
		m.Update(tea.PasteMsg{Content: "C"})
		rest(m)
		press(m, "esc")
		if len(g.sent) > 0 || m.batch.queue != nil {
			t.Fatalf("sent %v", g.sent)
		}
		if len(m.marks.set) != 2 {
			t.Errorf("%d marks after it was cancelled, want 2", len(m.marks.set))
		}
	})
}

func TestMarks(t *testing.T) {
	s, ids := queueShop(3)
	s.intent(9, api.Completed, time.Minute)
	m := boardOf(t, s, 200, 60)
	press(m, "x", "x")
	if got := screen(m); !strings.Contains(got, "■ 2 marked") || strings.Count(got, "■") != 1+2*2 {
		t.Errorf("the marks are not in view:\n%s", got)
	}
	press(m, "X")
	if got := screen(m); m.dialog.open() || !strings.Contains(got, "read-only: start with --allow-confirm") {
		t.Errorf("read-only:\n%s", got)
	}
	press(m, "k", "x")
	if len(m.marks.set) != 1 {
		t.Errorf("%d marks after one was taken away", len(m.marks.set))
	}
	s.place(ids[0], api.PlacingOrder)
	m.Update(changesMsg{s.Changes(0)})
	if len(m.marks.set) != 0 || strings.Contains(screen(m), "marked") {
		t.Errorf("an intent that is placing keeps its mark:\n%s", screen(m))
	}
	m.board.intents.Select(s.id(9))
	press(m, "x")
	if got := screen(m); len(m.marks.set) != 0 || !strings.Contains(got, "not awaiting confirmation") {
		t.Errorf("a completed intent can be marked:\n%s", got)
	}
	m.board.intents.Select(ids[1])
	press(m, "x")
	if len(m.marks.set) != 1 {
		t.Fatal("an awaiting intent cannot be marked")
	}
	press(m, "U")
	if len(m.marks.set) != 0 {
		t.Error("U leaves marks")
	}
}

func TestABatchThatCannotBeConfirmedAnyMoreIsNotAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := queueShop(3)
		m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer = true, &till{} })
		press(m, "g", "x", "x", "x")
		time.Sleep(24 * time.Minute)
		press(m, "X")
		if got := screen(m); m.dialog.open() || len(m.marks.set) != 2 || !strings.Contains(got, "1 intent can no longer be confirmed") {
			t.Errorf("%d marks:\n%s", len(m.marks.set), got)
		}
		press(m, "X")
		if !m.dialog.open() {
			t.Error("the rest is not asked about")
		}
	})
}

func TestWhatIsSaidOfABatchNamesTheKeysAsTheyAreConfigured(t *testing.T) {
	actions, err := action.Default().Remap(map[action.ID][]string{action.Mark: {"ctrl+n"}, action.StopBatch: {"alt+0"}})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := queueShop(2)
	m := boardOf(t, s, 200, 60, func(c *Config) { c.Armed, c.Confirmer, c.Actions = true, &till{}, actions })
	press(m, "X")
	if got, want := screen(m), "nothing is marked: ctrl+n marks the intent under the cursor"; !strings.Contains(got, want) {
		t.Errorf("no %q on\n%s", want, got)
	}
	m.batch.queue = &queue{accepted: map[api.ID]bool{}, running: "ci_1"}
	press(m, "X")
	if got, want := screen(m), "a batch is running: alt+0 stops it"; !strings.Contains(got, want) {
		t.Errorf("no %q on\n%s", want, got)
	}
	m.notices.toast, m.redraw = toast{}, true
	if got, want := screen(m), "alt+0 stops it; what was sent goes on"; !strings.Contains(got, want) {
		t.Errorf("no %q on\n%s", want, got)
	}
}
