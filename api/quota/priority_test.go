package quota

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestPrioritiesGoInOrderAndEachInTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{Share: 1, Reserve: -1})
		var held []Permit
		for range 10 {
			held = append(held, acquire(t, p, t.Context(), Reads))
		}
		order := make(chan string, 12)
		ask := func(priority Priority, name string) {
			go func() {
				permit, err := p.Acquire(as(t, priority), Reads)
				if err != nil {
					t.Error(err)
					return
				}
				order <- name
				pass(time.Millisecond)
				permit.Done(ok(0))
			}()
			synctest.Wait()
		}
		for i := range 3 {
			for _, asked := range []struct {
				priority Priority
				name     string
			}{{Reconcile, "reconcile"}, {Timer, "timer"}, {Hint, "hint"}, {Person, "person"}} {
				ask(asked.priority, fmt.Sprint(asked.name, i))
			}
		}
		if n := p.Waiting(Reads); n != 12 {
			t.Fatalf("%d wait, want 12", n)
		}
		held[0].Done(Outcome{Status: 200})
		var got []string
		for range 12 {
			got = append(got, <-order)
		}
		want := []string{"person0", "person1", "person2", "hint0", "hint1", "hint2", "timer0", "timer1", "timer2", "reconcile0", "reconcile1", "reconcile2"}
		if !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		pass(time.Second)
	})
}

func TestAPersonPassesAllWhoWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		ctx, cancel := context.WithCancel(t.Context())
		for range 500 {
			go func() { // they wait until the test ends
				if permit, err := p.Acquire(WithPriority(ctx, Reconcile), Reads); err == nil {
					permit.Done(Outcome{Status: 200})
				}
			}()
		}
		synctest.Wait()
		for range 7 { // what the three that went out have left
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Errorf("a person waited %v behind reconciling", wait)
			}
		}
		cancel()
		synctest.Wait()
		if n := p.Waiting(Reads); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

func TestRequestsBelowAPersonKeepToTheirShare(t *testing.T) {
	tests := []struct {
		name  string
		share float64
		class Class
		want  int // requests in ten seconds
	}{
		{"the default share of reads", 0, Reads, 30},
		{"the default share of mutations", 0, Mutations, 10},
		{"half", 0.5, Reads, 50},
		{"less than one a second", 0.05, Reads, 5},
		{"next to nothing", 1e-300, Reads, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{Share: test.share})
				ctx, cancel := context.WithTimeout(as(t, Timer), 10*time.Second)
				defer cancel()
				n := 0
				for {
					permit, err := p.Acquire(ctx, test.class)
					if err != nil {
						break
					}
					n++
					permit.Done(Outcome{Status: 200})
				}
				if n != test.want {
					t.Errorf("%d requests in ten seconds, want %d", n, test.want)
				}
			})
		})
	}
}

func TestRequestsBelowAPersonStopAtTheReserve(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{Reserve: 5})
		acquire(t, p, t.Context(), Reads).Done(Outcome{Status: 200, Header: headers(`"a";r=7;t=30`, `"a";q=100;w=60`)})
		for range 2 {
			if wait, _ := waited(t, p, as(t, Hint), Reads); wait != 0 {
				t.Fatalf("waited %v above the reserve", wait)
			}
		}
		if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
			t.Errorf("a person waited %v at the reserve", wait)
		}
		if wait, _ := waited(t, p, as(t, Hint), Reads); wait != 30*time.Second+slack {
			t.Errorf("waited %v at the reserve, want the reset", wait)
		}
	})
}

func TestALongWindowHoldsBackAllButPersons(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		acquire(t, p, t.Context(), Reads).Done(Outcome{Status: 200, Header: headers(`"hour";r=2;t=1800`, `"hour";q=1000;w=3600`)})
		if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
			t.Errorf("a person waited %v", wait)
		}
		if wait, _ := waited(t, p, as(t, Timer), Reads); wait != 30*time.Minute+slack {
			t.Errorf("a timer waited %v, want the reset", wait)
		}
	})
}

func TestNobodyStarves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		s := newService(slidingLog(), 5*time.Millisecond, 50*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go drive(ctx, p, 20, s.serve)
		synctest.Wait()
		for _, low := range []Priority{Hint, Timer, Reconcile} {
			wait, permit := waited(t, p, as(t, low), Reads)
			permit.Done(s.serve())
			if most := time.Duration(low)*agingStep + 3*time.Second; wait > most {
				t.Errorf("priority %d waited %v behind persons, want at most %v", low, wait, most)
			}
		}
		<-ctx.Done()
		synctest.Wait()
	})
}

func TestTheLowestDoNotStarveBehindHints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		ctx, cancel := context.WithTimeout(as(t, Hint), time.Minute)
		defer cancel()
		go drive(ctx, p, 20, func() Outcome { pass(10 * time.Millisecond); return ok(5) })
		synctest.Wait()
		wait, permit := waited(t, p, as(t, Reconcile), Reads)
		permit.Done(ok(5))
		if most := time.Duration(Reconcile)*agingStep + 3*time.Second; wait > most {
			t.Errorf("waited %v behind hints, want at most %v", wait, most)
		}
		<-ctx.Done()
		synctest.Wait()
	})
}

func TestBackgroundReadsAreSpreadEvenly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		for i := range 6 {
			wait, permit := waited(t, p, as(t, Timer), Reads)
			permit.Done(Outcome{Status: 200})
			if i > 0 && (wait < 330*time.Millisecond || wait > 340*time.Millisecond) {
				t.Errorf("read %d came %v after the one before, want a third of a second", i+1, wait)
			}
		}
		pass(2 * time.Second)
		for range 3 {
			if wait, _ := waited(t, p, as(t, Hint), Reads); wait != 0 {
				t.Errorf("a hint waited %v within the share", wait)
			}
		}
	})
}

func TestAgingDoesNotSpendTheReserveOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		acquire(t, p, t.Context(), Reads).Done(Outcome{Status: 200, Header: headers(`"a";r=2;t=300`, `"a";q=100;w=300`)})
		if wait, _ := waited(t, p, as(t, Reconcile), Reads); wait != 300*time.Second+slack {
			t.Errorf("waited %v, want the reset", wait)
		}
	})
}
