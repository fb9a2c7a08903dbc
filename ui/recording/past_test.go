package recording

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// counted is a source that counts how often it is read.
type counted struct {
	*account.Store
	reads atomic.Int64
}

func (c *counted) Changes(since uint64) account.Changes {
	c.reads.Add(1)
	return c.Store.Changes(since)
}

// keeping keeps the past of a stage, beside the recording that each stage makes.
func keeping(t *testing.T, s *stage, limit int) (*Past, *counted) {
	past, source := NewPast(), &counted{Store: s.store}
	past.limit = limit
	ctx, cancel := context.WithCancel(t.Context())
	s.running.Go(func() { past.Run(ctx, source) })
	t.Cleanup(cancel)
	before := s.cancel
	s.cancel = func() {
		before()
		cancel()
	}
	s.pass(2 * pastAfter)
	return past, source
}

// record begins a recording with the past, and records what change does on top.
func record(t *testing.T, s *stage, past *Past, change func()) *Player {
	t.Helper()
	path := filepath.Join(t.TempDir(), "later.tillwatch")
	r, err := past.Record(path, form.Header{Environment: "simulator"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.running.Go(func() {
		if err := r.Run(ctx, s.store); err != nil {
			t.Error(err)
		}
	})
	change()
	s.pass(2 * time.Second)
	cancel()
	s.end()
	p, err := OpenPlayer(path, PlayerConfig{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if flaws := p.Flaws(); flaws != "" {
		t.Error(flaws)
	}
	return p
}

// statesOf are the states that an intent goes through in a recording.
func statesOf(p *Player, id api.ID) (states []api.IntentState) {
	for more := true; more; more = p.Advance() {
		if in, ok := p.Intent(id); ok && (len(states) == 0 || states[len(states)-1] != in.State) {
			states = append(states, in.State)
		}
	}
	return states
}

func TestARecordingReachesBackToWhatWasBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		past, _ := keeping(t, s, PastBytes)
		for _, state := range []api.IntentState{api.RetrievingOffer, api.AwaitingConfirmation, api.PlacingOrder} {
			s.read("ci_1", state, "")
			s.pass(4 * time.Minute)
		}
		s.read("ci_2", api.Failed, `,"failureReason":{"code":"payment_failed"}`)
		s.pass(time.Minute)
		p := record(t, s, past, func() {
			s.pass(time.Minute)
			s.read("ci_1", api.Completed, "")
		})
		if h := p.Header(); time.Since(h.Began) < 14*time.Minute || time.Since(h.Began) > 21*time.Minute {
			t.Errorf("it begins %v ago", time.Since(h.Began))
		}
		if got := fmt.Sprint(statesOf(p, "ci_1")); got != "[retrieving_offer awaiting_confirmation placing_order completed]" {
			t.Errorf("the intent goes through %s", got)
		}
		if marks := p.Marks(); len(marks) == 0 || marks[len(marks)-1].Kind != MarkFailed {
			t.Errorf("marks %v", marks)
		}
		requireSame(t, asTold(t, s.store), asTold(t, p))
	})
}

func TestThePastIsLetGoAfterAQuarterOfAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		past, source := keeping(t, s, PastBytes)
		for range 90 {
			s.read("ci_1", api.AwaitingConfirmation, "")
			s.pass(time.Minute)
		}
		if n := len(past.chapters); n < 3 || n > 5 || time.Since(past.chapters[0].began) > PastSpan+2*pastChapter || time.Since(past.chapters[0].began) < PastSpan {
			t.Errorf("%d chapters are kept, the first from %v ago", n, time.Since(past.chapters[0].began))
		}
		reads := source.reads.Load()
		s.pass(time.Hour)
		if n := source.reads.Load() - reads; n != 0 {
			t.Errorf("while nothing changes the picture is read %d times", n)
		}
		p := record(t, s, past, func() { s.read("ci_1", api.PlacingOrder, "") })
		if h := p.Header(); time.Since(h.Began) > time.Minute {
			t.Errorf("after an hour without a change it begins %v ago", time.Since(h.Began))
		}
	})
}

func TestThePastIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 30 << 10
		s := newStage(t, 0)
		past, _ := keeping(t, s, limit)
		for i := range 300 {
			s.read(fmt.Sprintf("ci_%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)})), api.Completed, "")
			s.pass(3 * time.Second)
			kept := size(past.into)
			for _, c := range past.chapters {
				kept += size(c.packed)
			}
			if kept > limit {
				t.Fatalf("after %d intents %d bytes are kept, at most %d", i, kept, limit)
			}
		}
		if len(past.chapters) == 0 || time.Since(past.chapters[0].began) > PastSpan-pastChapter {
			t.Errorf("%d chapters are kept, %d bytes: more than the bound has room for, or none", len(past.chapters), past.bound(time.Now()))
		}
		p := record(t, s, past, func() {})
		for p.Advance() {
		}
		requireSame(t, asTold(t, s.store), asTold(t, p))
	})
}

func TestWithoutRoomForThePastARecordingBeginsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		s.read("ci_1", api.AwaitingConfirmation, "")
		past, _ := keeping(t, s, 100)
		s.read("ci_1", api.PlacingOrder, "")
		s.pass(time.Minute)
		p := record(t, s, past, func() {
			s.pass(time.Second)
			s.read("ci_1", api.Completed, "")
		})
		if got := fmt.Sprint(statesOf(p, "ci_1")); got != "[placing_order completed]" {
			t.Errorf("the intent goes through %s", got)
		}
	})
}

func TestThePastHoldsNothingOfABuyer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		past, _ := keeping(t, s, PastBytes)
		s.read("ci_1", api.Failed, `,"failureReason":{"code":"payment_failed","message":"tok_live_do_not_tell of Annabel is refused"}`)
		s.shipment("shp_1", api.Shipped)
		s.pass(time.Minute)
		p := record(t, s, past, func() {})
		told := fmt.Sprint(asTold(t, p))
		for _, secret := range []string{"tok_live", "Annabel", "Quillfeather", "annabel@", "Larkspur", "003404341610"} {
			if strings.Contains(told, secret) {
				t.Errorf("%q is revealed", secret)
			}
		}
	})
}

func TestARecordingThatCannotBeWrittenLeavesThePastAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 0)
		past, _ := keeping(t, s, PastBytes)
		s.read("ci_1", api.AwaitingConfirmation, "")
		s.pass(time.Minute)
		if _, err := past.Record(filepath.Join(t.TempDir(), "none", "r"), form.Header{}, 0); err == nil || !strings.Contains(err.Error(), "no such file or directory") {
			t.Errorf("error %v", err)
		}
		taken := filepath.Join(t.TempDir(), "r")
		if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := past.Record(taken, form.Header{}, 0); err == nil || !strings.Contains(err.Error(), "is not overwritten") {
			t.Errorf("error %v", err)
		}
		s.read("ci_1", api.PlacingOrder, "")
		s.pass(time.Minute)
		p := record(t, s, past, func() {})
		if got := fmt.Sprint(statesOf(p, "ci_1")); got != "[awaiting_confirmation placing_order]" {
			t.Errorf("the intent goes through %s", got)
		}
	})
}
