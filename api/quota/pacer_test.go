package quota

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// bubble runs a test on fake time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func pass(d time.Duration) { <-time.After(d) }

func as(t *testing.T, priority Priority) context.Context {
	return WithPriority(t.Context(), priority)
}

func acquire(t *testing.T, p *Pacer, ctx context.Context, class Class) Permit {
	t.Helper()
	permit, err := p.Acquire(ctx, class)
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// ok is a success that reports r of 10 a second.
func ok(r int) Outcome {
	return Outcome{Status: http.StatusOK, Header: headers(fmt.Sprintf(`"default";r=%d;t=1`, r), `"default";q=10;w=1`)}
}

// refused is a 429 of a per-second bucket.
func refused(retryAfter string) Outcome {
	o := Outcome{Status: http.StatusTooManyRequests, PerSecond: true, Header: http.Header{}}
	if retryAfter != "" {
		o.Header.Set("Retry-After", retryAfter)
	}
	return o
}

// waited is how long the next permit is waited for; it stays in flight.
func waited(t *testing.T, p *Pacer, ctx context.Context, class Class) (time.Duration, Permit) {
	t.Helper()
	begin := time.Now()
	permit := acquire(t, p, ctx, class)
	return time.Since(begin), permit
}

func TestTheContractsDefaultsHoldBeforeAnythingIsKnown(t *testing.T) {
	for class, limit := range map[Class]int{Reads: 10, Mutations: 5, Lookup: 10, "unheard of": 5} {
		t.Run(string(class), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				for i := range limit {
					wait, permit := waited(t, p, t.Context(), class)
					if wait != 0 {
						t.Fatalf("request %d waited %v", i+1, wait)
					}
					permit.Done(Outcome{Status: http.StatusOK})
				}
				if wait, _ := waited(t, p, t.Context(), class); wait != time.Second+slack {
					t.Errorf("request %d waited %v, want a window", limit+1, wait)
				}
				if got := p.Buckets(time.Now()); len(got) != 0 {
					t.Errorf("buckets were invented: %+v", got)
				}
			})
		})
	}
}

func TestAReportedLimitReplacesTheDefault(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		permit := acquire(t, p, t.Context(), Reads)
		permit.Done(Outcome{Status: 200, Header: headers(`"default";r=49;t=1`, `"default";q=50;w=1`)})
		for range 49 {
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Fatalf("waited %v within a limit of 50", wait)
			}
		}
	})
}

func TestClassesDoNotWaitForEachOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		for range 10 {
			acquire(t, p, t.Context(), Reads)
		}
		for _, class := range []Class{Mutations, Lookup} {
			if wait, _ := waited(t, p, t.Context(), class); wait != 0 {
				t.Errorf("%s waited %v for reads", class, wait)
			}
		}
	})
}

func TestARequestInFlightCountsAsSpent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		var permits []Permit
		for range 10 {
			permits = append(permits, acquire(t, p, t.Context(), Reads))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := p.Acquire(ctx, Reads); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("an eleventh request got %v while ten are in flight", err)
		}
		permits[0].Done(Outcome{Status: 200})
		if wait, _ := waited(t, p, t.Context(), Reads); wait != time.Second+slack {
			t.Errorf("waited %v after an answer, want a window", wait)
		}
	})
}

func TestARequestWithoutAnAnswerCountsAsSpent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		for range 10 {
			acquire(t, p, t.Context(), Reads).Done(Outcome{})
		}
		if wait, _ := waited(t, p, t.Context(), Reads); wait != time.Second+slack {
			t.Errorf("waited %v, want a window", wait)
		}
	})
}

func TestDoneCountsOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		permit := acquire(t, p, t.Context(), Reads)
		permit.Done(ok(9))
		permit.Done(ok(3))
		if b := p.Buckets(time.Now())[0]; b.Remaining != 9 || b.Own != 1 {
			t.Errorf("remaining %d, own %v; want 9 and 1", b.Remaining, b.Own)
		}
		Permit{}.Done(ok(0)) // a client without a pacer has such permits
	})
}

func TestAtNothingLeftAPersonWaitsUntilTheReset(t *testing.T) {
	tests := []struct {
		name           string
		limits, policy string
		want           time.Duration
	}{
		{"of a minute", `"a";r=0;t=42`, `"a";q=100;w=60`, 42*time.Second + slack},
		{"of a second that others have emptied", `"a";r=0;t=1`, `"a";q=10;w=1`, time.Second + slack},
		{"without a policy", `"a";r=0;t=7`, ``, 7*time.Second + slack},
		{"without a reset", `"a";r=0`, `"a";q=10;w=3`, 3*time.Second + slack},
		{"of two of one name, the smaller", `"a";r=5;t=1, "a";r=0;t=9`, ``, 9*time.Second + slack},
		{"of a day: it may be charged by other calls only", `"a";r=0;t=86399`, `"a";q=50;w=86400`, 0},
		{"something left", `"a";r=1;t=42`, `"a";q=100;w=60`, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				acquire(t, p, t.Context(), Reads).Done(Outcome{Status: 200, Header: headers(test.limits, test.policy)})
				if wait, _ := waited(t, p, t.Context(), Reads); wait != test.want {
					t.Errorf("waited %v, want %v", wait, test.want)
				}
			})
		})
	}
}

func TestANewWindowOfAMinuteIsUsedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		end := time.Now().Add(time.Minute)
		fields := func(r int) Outcome {
			left := int(time.Until(end).Seconds())
			return Outcome{Status: 200, Header: headers(fmt.Sprintf(`"a";r=%d;t=%d`, r, left), `"a";q=20;w=60`)}
		}
		pass(50 * time.Second)
		for i := range 20 {
			pass(200 * time.Millisecond)
			acquire(t, p, t.Context(), Reads).Done(fields(19 - i))
		}
		if wait, permit := waited(t, p, t.Context(), Reads); wait != 6*time.Second+slack {
			t.Errorf("waited %v, want the reset", wait)
		} else {
			end = end.Add(time.Minute)
			permit.Done(fields(19))
		}
		for i := range 9 {
			wait, permit := waited(t, p, t.Context(), Reads)
			if wait != 0 {
				t.Errorf("request %d of the new window waited %v", i+2, wait)
			}
			permit.Done(fields(18 - i))
		}
	})
}

func TestWhatIsInFlightIsTakenFromWhatRemains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		acquire(t, p, t.Context(), Reads).Done(Outcome{Status: 200, Header: headers(`"a";r=2;t=30`, `"a";q=100;w=60`)})
		for range 2 {
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Fatalf("waited %v while something is left", wait)
			}
		}
		if wait, _ := waited(t, p, t.Context(), Reads); wait != 30*time.Second+slack {
			t.Errorf("waited %v, want the reset", wait)
		}
	})
}

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

func TestWaitingEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Acquire(ended, Reads); !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context got %v", err)
		}
		for range 10 {
			acquire(t, p, t.Context(), Reads).Done(Outcome{Status: 200})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if _, err := p.Acquire(ctx, Reads); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took != 300*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if n := p.Waiting(Reads); n != 0 {
			t.Errorf("%d wait, want none", n)
		}
		if wait, _ := waited(t, p, t.Context(), Reads); wait != 700*time.Millisecond+slack {
			t.Errorf("the next waited %v: one that gave up was counted as spent", wait)
		}
	})
}

func TestAPermitThatComesTooLateIsGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		l := p.lane(Reads)
		w := &waiter{priority: Hint, ready: make(chan struct{})}
		l.enqueue(w, time.Now())
		if !w.permitted {
			t.Fatal("not permitted")
		}
		p.withdraw(l, w)
		if l.all.inFlight != 0 || l.low.inFlight != 0 {
			t.Errorf("%d and %d in flight, want none", l.all.inFlight, l.low.inFlight)
		}
		for range 10 {
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Fatalf("waited %v for a request that was never sent", wait)
			}
		}
	})
}

func TestAPerSecondRefusalPausesTheClass(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		p.jitter = func() float64 { return 0.5 }
		want := []time.Duration{1500 * time.Millisecond, 3 * time.Second, 6 * time.Second, 12 * time.Second, 24 * time.Second, 30 * time.Second, 30 * time.Second}
		permit := acquire(t, p, t.Context(), Reads)
		for i, pause := range want {
			permit.Done(refused(""))
			var wait time.Duration
			if wait, permit = waited(t, p, t.Context(), Reads); wait != pause {
				t.Errorf("refusal %d: paused %v, want %v", i+1, wait, pause)
			}
		}
		permit.Done(ok(9))
		permit = acquire(t, p, t.Context(), Reads)
		permit.Done(refused(""))
		if wait, _ := waited(t, p, t.Context(), Reads); wait != want[0] {
			t.Errorf("after a success: paused %v, want %v", wait, want[0])
		}
	})
}

func TestTheFirstPauseIsOneToTwoSeconds(t *testing.T) {
	for _, jitter := range []float64{0, 0.25, math.Nextafter(1, 0)} {
		bubble(t, func(t *testing.T) {
			p := NewPacer(PacerConfig{})
			p.jitter = func() float64 { return jitter }
			acquire(t, p, t.Context(), Reads).Done(refused(""))
			if wait, _ := waited(t, p, t.Context(), Reads); wait < time.Second || wait > 2*time.Second {
				t.Errorf("jitter %v: paused %v", jitter, wait)
			}
		})
	}
}

func TestABurstOfRefusalsIsOneStrike(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		p.jitter = func() float64 { return 0 }
		var permits []Permit
		for range 8 {
			permits = append(permits, acquire(t, p, t.Context(), Reads))
		}
		for _, permit := range permits {
			permit.Done(refused(""))
		}
		if wait, _ := waited(t, p, t.Context(), Reads); wait != time.Second {
			t.Errorf("paused %v, want that of one refusal", wait)
		}
	})
}

func TestRetryAfterWins(t *testing.T) {
	tests := []struct {
		name  string
		value func() string
		want  time.Duration
	}{
		{"seconds", func() string { return "7" }, 7 * time.Second},
		{"a date", func() string { return time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat) }, 9 * time.Second},
		{"nothing, rounded down", func() string { return "0" }, time.Second},
		{"absurd", func() string { return "999999" }, longestPause},
		{"unreadable", func() string { return "soon" }, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				p.jitter = func() float64 { return 0 }
				acquire(t, p, t.Context(), Reads).Done(refused(test.value()))
				if wait, _ := waited(t, p, t.Context(), Reads); wait != test.want {
					t.Errorf("paused %v, want %v", wait, test.want)
				}
			})
		})
	}
}

func TestARefusalThatDoesNotPassDoesNotPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		o := Outcome{Status: 429, Header: headers(`"mutations";r=2;t=1, "checkout-intents";r=0;t=86399`, `"mutations";q=5;w=1, "checkout-intents";q=50;w=86400`)}
		o.Header.Set("Retry-After", "86399")
		acquire(t, p, t.Context(), Mutations).Done(o)
		if wait, _ := waited(t, p, t.Context(), Mutations); wait != 0 {
			t.Errorf("a daily refusal paused the class for %v", wait)
		}
		for _, b := range p.Buckets(time.Now()) {
			if want := map[string]int64{"checkout-intents": 1}[b.Policy]; b.Rejected != want {
				t.Errorf("%s: %d rejected, want %d", b.Policy, b.Rejected, want)
			}
		}
	})
}

func TestARefusalIsKnownByItsFieldsWhereItsWordsSayNothing(t *testing.T) {
	tests := []struct {
		name           string
		limits, policy string
		pauses         bool
	}{
		{"the second is empty", `"a";r=0;t=1`, `"a";q=5;w=1`, true},
		{"the second and the day are empty", `"a";r=0;t=1, "b";r=0;t=9`, `"a";q=5;w=1, "b";q=50;w=86400`, false},
		{"the day is empty", `"b";r=0;t=9`, `"b";q=50;w=86400`, false},
		{"nothing is empty", `"a";r=3;t=1`, `"a";q=5;w=1`, false},
		{"nothing is told", ``, ``, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				acquire(t, p, t.Context(), Mutations).Done(Outcome{Status: 429, Header: headers(test.limits, test.policy)})
				if pauses := p.lane(Mutations).pause.strikes > 0; pauses != test.pauses {
					t.Errorf("pauses: %v, want %v", pauses, test.pauses)
				}
			})
		})
	}
}

func TestAfterARefusalOneRequestTriesFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		p.jitter = func() float64 { return 0 }
		acquire(t, p, t.Context(), Reads).Done(refused(""))
		probe := acquire(t, p, t.Context(), Reads)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := p.Acquire(ctx, Reads); err == nil {
			t.Error("a second request went out before the first was let through")
		}
		probe.Done(ok(9))
		for range 9 {
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Errorf("waited %v after a success", wait)
			}
		}
	})
}
