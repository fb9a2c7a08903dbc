package quota

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
		q := p.queue(Reads)
		w := &waiter{priority: Hint, ready: make(chan struct{})}
		q.enqueue(w, time.Now())
		if !w.permitted {
			t.Fatal("not permitted")
		}
		p.withdraw(q, w)
		if q.all.inFlight != 0 || q.low.inFlight != 0 {
			t.Errorf("%d and %d in flight, want none", q.all.inFlight, q.low.inFlight)
		}
		for range 10 {
			if wait, _ := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Fatalf("waited %v for a request that was never sent", wait)
			}
		}
	})
}
