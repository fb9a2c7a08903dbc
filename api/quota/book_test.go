package quota

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// told has the pacer hear one answer, at once.
func told(t *testing.T, p *Pacer, class Class, limits, policy string) {
	t.Helper()
	acquire(t, p, t.Context(), class).Done(Outcome{Status: 200, Header: headers(limits, policy)})
}

func bucketOf(t *testing.T, p *Pacer, policy string) Bucket {
	t.Helper()
	all := p.Buckets(time.Now())
	i := slices.IndexFunc(all, func(b Bucket) bool { return b.Policy == policy })
	if i < 0 {
		t.Fatalf("no bucket %q in %+v", policy, all)
	}
	return all[i]
}

func TestABucketIsKnownByClassPolicyLimitAndWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Lookup, `"default";r=9;t=1`, `"default";q=10;w=1`)
		told(t, p, Mutations, `"default";r=4;t=1, "default";r=49;t=86400`, `"default";q=5;w=1, "default";q=50;w=86400`)
		told(t, p, Reads, `"default";r=8;t=1`, `"default";q=10;w=1`)
		var got []string
		for _, b := range p.Buckets(time.Now()) {
			got = append(got, fmt.Sprint(b.Class, " ", b.Policy, " ", b.Limit, " ", b.Window, " ", b.Remaining))
		}
		want := []string{"reads default 10 1s 8", "mutations default 5 1s 4", "mutations default 50 24h0m0s 49", "lookup default 10 1s 9"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestAStaleAnswerDoesNotOverwriteANewerOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		slow := acquire(t, p, t.Context(), Reads)
		sent := time.Now()
		pass(400 * time.Millisecond)
		quick := acquire(t, p, t.Context(), Reads)
		pass(10 * time.Millisecond)
		quick.Done(ok(3))
		received := time.Now()
		pass(90 * time.Millisecond)
		o := ok(9)
		o.Sent, o.Received = sent, time.Now()
		slow.Done(o)
		if b := bucketOf(t, p, "default"); b.Remaining != 3 || !b.ObservedAt.Equal(received) {
			t.Errorf("remaining %d observed at %v, want 3 at %v", b.Remaining, b.ObservedAt, received)
		}
	})
}

func TestOfAnswersSentTogetherTheSmallestActs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		var permits []Permit
		for range 4 {
			permits = append(permits, acquire(t, p, t.Context(), Reads))
		}
		for i, r := range []int{8, 6, 9, 7} {
			permits[i].Done(ok(r))
		}
		if b := bucketOf(t, p, "default"); b.Remaining != 6 {
			t.Errorf("remaining %d, want 6", b.Remaining)
		}
	})
}

func TestAWrongClockDoesNotMakeAReportNewer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		o := ok(1)
		o.Sent, o.Received = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		acquire(t, p, t.Context(), Reads).Done(o)
		pass(time.Second)
		told(t, p, Reads, `"default";r=9;t=1`, `"default";q=10;w=1`)
		if b := bucketOf(t, p, "default"); b.Remaining != 9 || b.ObservedAt.After(time.Now()) {
			t.Errorf("remaining %d observed at %v", b.Remaining, b.ObservedAt)
		}
	})
}

func TestAnAnswerWithoutFieldsLeavesWhatIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Reads, `"default";r=4;t=1`, `"default";q=10;w=1`)
		at := time.Now()
		pass(30 * time.Second)
		told(t, p, Reads, ``, ``)
		told(t, p, Reads, `"default";R=9`, ``)
		b := bucketOf(t, p, "default")
		if b.Remaining != 4 || !b.ObservedAt.Equal(at) {
			t.Errorf("remaining %d observed at %v, want 4 at %v", b.Remaining, b.ObservedAt, at)
		}
		if left := b.Left(time.Now()); left != 10 {
			t.Errorf("%d left once the window has passed, want 10", left)
		}
	})
}

func TestAPolicyAloneReportsNoRemainder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Reads, ``, `"default";q=1000;w=3600`)
		b := bucketOf(t, p, "default")
		if !b.Unreported || b.Limit != 1000 || b.Exhausted != 0 || b.Left(time.Now()) != 1000 {
			t.Errorf("got %+v", b)
		}
	})
}

func TestALimitAloneFindsItsBucket(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Reads, `"a";r=9;t=1`, ``)
		told(t, p, Reads, `"a";r=8;t=1, "a";r=90;t=60`, `"a";q=10;w=1, "a";q=100;w=60`)
		told(t, p, Reads, `"a";r=7;t=1`, ``)
		told(t, p, Reads, `"a";r=88;t=30`, ``)
		all := p.Buckets(time.Now())
		if len(all) != 2 || all[0].Remaining != 7 || all[1].Remaining != 88 {
			t.Errorf("got %+v", all)
		}
	})
}

func TestAChangedLimitReplacesTheOldOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Reads, `"default";r=1;t=1`, `"default";q=10;w=1`)
		told(t, p, Reads, `"default";r=49;t=1`, `"default";q=50;w=1`)
		for range 30 {
			if wait, permit := waited(t, p, t.Context(), Reads); wait != 0 {
				t.Fatalf("waited %v for a limit that was raised", wait)
			} else {
				permit.Done(Outcome{Status: 200})
			}
		}
		if all := p.Buckets(time.Now()); len(all) != 1 || all[0].Limit != 50 {
			t.Errorf("got %+v", all)
		}
	})
}

func TestABookIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		for i := range 100 {
			pass(time.Second)
			told(t, p, Reads, fmt.Sprintf(`"name %d";r=9;t=1`, i), ``)
		}
		all := p.Buckets(time.Now())
		if len(all) != mostBuckets {
			t.Fatalf("%d buckets, want %d", len(all), mostBuckets)
		}
		bucketOf(t, p, "name 99")
	})
}

func TestOwnSpendingIsRatedOverTheLastMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		for range 120 {
			for range 2 {
				told(t, p, Reads, `"default";r=8;t=1`, `"default";q=10;w=1`)
			}
			pass(time.Second)
		}
		if b := bucketOf(t, p, "default"); b.Own < 1.9 || b.Own > 2 || b.Others != 0 {
			t.Errorf("own %v, others %v; want 2 and 0", b.Own, b.Others)
		}
		pass(2 * time.Minute)
		if b := bucketOf(t, p, "default"); b.Own != 0 {
			t.Errorf("own %v after two quiet minutes", b.Own)
		}
	})
}

func TestHistoryIsKeptBySecondMinuteAndHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Reads, `"default";r=9;t=1`, `"default";q=10;w=1`)
		pass(30 * time.Second)
		told(t, p, Reads, `"default";r=4;t=1`, `"default";q=10;w=1`)
		told(t, p, Reads, `"default";r=3;t=1`, `"default";q=10;w=1`)
		b := bucketOf(t, p, "default")
		for name, history := range map[string]struct {
			samples []Sample
			length  int
			width   time.Duration
		}{"second": {b.History, 60, time.Second}, "minute": {b.Hour, 60, time.Minute}, "hour": {b.Day, 24, time.Hour}} {
			if len(history.samples) != history.length {
				t.Fatalf("by %s: %d samples, want %d", name, len(history.samples), history.length)
			}
			for i, s := range history.samples[1:] {
				if s.At.Sub(history.samples[i].At) != history.width {
					t.Fatalf("by %s: sample %d is %v after the one before", name, i+1, s.At.Sub(history.samples[i].At))
				}
			}
			last := history.samples[history.length-1]
			if age := time.Since(last.At); age < 0 || age >= history.width {
				t.Errorf("by %s: the last sample begins %v ago", name, age)
			}
			if !last.Known || last.Remaining != 3 {
				t.Errorf("by %s: the last sample is %+v", name, last)
			}
		}
		if s := b.History[29]; !s.Known || s.Remaining != 9 || s.Own != 1 {
			t.Errorf("thirty seconds ago: %+v", s)
		}
		if s := b.History[59]; s.Own != 2 || s.Others != 5 {
			t.Errorf("now: %+v, want 2 own and 5 of others", s)
		}
		if s := b.History[45]; s.Known || s.Own != 0 {
			t.Errorf("between: %+v, want nothing known", s)
		}
	})
}

func TestAForecastIsMadeWhereSpendingOutrunsTheReset(t *testing.T) {
	tests := []struct {
		name   string
		r      func(i int) int
		policy string
		reset  int
		least  time.Duration
		most   time.Duration
	}{
		{"it runs out before the reset", func(i int) int { return 60 - i }, `"a";q=100;w=600`, 500, 28 * time.Second, 33 * time.Second},
		{"it resets before it runs out", func(i int) int { return 60 - i }, `"a";q=100;w=600`, 15, 0, 0},
		{"nothing is left", func(i int) int { return max(10-i, 0) }, `"a";q=100;w=600`, 300, 1, 1},
		{"a window of a second", func(i int) int { return 1 }, `"a";q=10;w=1`, 1, 0, 0},
		{"a window of a second with nothing left", func(i int) int { return 0 }, `"a";q=10;w=1`, 1, 1, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				q := newQueue(NewPacer(PacerConfig{}), Reads) // its books alone: a pacer would wait
				for i := range 30 {
					w := &waiter{ready: make(chan struct{}), priority: Person}
					q.waiting = append(q.waiting, w)
					q.permit(w, time.Now())
					fields := ParseFields(headers(fmt.Sprintf(`"a";r=%d;t=%d`, test.r(i), test.reset), test.policy))
					q.finish(w, Outcome{Status: 200}, fields, time.Now())
					if i < 29 {
						pass(time.Second)
					}
				}
				got := q.book.buckets(time.Now(), nil, time.Time{})[0].Exhausted
				if got < test.least || got > test.most {
					t.Errorf("forecast %v, want %v to %v", got, test.least, test.most)
				}
			})
		})
	}
}

func TestRefusalsAreCountedWhereTheyHappened(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		told(t, p, Reads, `"second";r=9;t=1, "hour";r=90;t=3600`, `"second";q=10;w=1, "hour";q=100;w=3600`)
		acquire(t, p, t.Context(), Reads).Done(refused("1"))
		named := Outcome{Status: 429, PerSecond: true, Header: headers(`"second";r=0;t=1, "hour";r=89;t=3600`, `"second";q=10;w=1, "hour";q=100;w=3600`)}
		acquire(t, p, t.Context(), Reads).Done(named)
		if s, h := bucketOf(t, p, "second"), bucketOf(t, p, "hour"); s.Rejected != 2 || h.Rejected != 0 {
			t.Errorf("rejected %d by the second and %d by the hour, want 2 and 0", s.Rejected, h.Rejected)
		}
		now := time.Now()
		p.Observe(seen(Outcome{Status: 429, Sent: now, Received: now, Header: named.Header}))
		overheard(p, 0, `"second";r=0;t=1, "hour";r=88;t=3600`, `"second";q=10;w=1, "hour";q=100;w=3600`)
		s, h := bucketOf(t, p, "second"), bucketOf(t, p, "hour")
		if _, _, refused := Sum(s.Day); s.Rejected != 3 || refused != 3 || h.Rejected != 0 {
			t.Errorf("with somebody else's: %d by the second, %d in its day, and %d by the hour, want 3, 3 and 0", s.Rejected, refused, h.Rejected)
		}
	})
}

func TestThePacerIsSafeForConcurrentUse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for i := range 64 {
			go func() {
				random := rand.New(rand.NewPCG(uint64(i), 1))
				for ctx.Err() == nil {
					short, end := context.WithTimeout(WithPriority(ctx, Priority(i%priorities)), time.Duration(random.Int64N(int64(3*time.Second))))
					permit, err := p.Acquire(short, []Class{Reads, Mutations, Lookup}[i%3])
					if err == nil {
						pass(time.Duration(random.Int64N(int64(100 * time.Millisecond))))
						status := []int{0, 200, 404, 429, 500}[random.IntN(5)]
						permit.Done(Outcome{Status: status, PerSecond: status == 429, Header: http.Header{}})
					}
					end()
					p.Buckets(time.Now())
				}
			}()
		}
		<-ctx.Done()
		pass(time.Second)
		synctest.Wait()
		for class, q := range p.queues {
			if q.all.inFlight != 0 || q.low.inFlight != 0 || len(q.waiting) != 0 || q.pause.probes != 0 || q.started != q.ended {
				t.Errorf("%s: %d and %d in flight, %d waiting, %d probes, %d started, %d ended", class,
					q.all.inFlight, q.low.inFlight, len(q.waiting), q.pause.probes, q.started, q.ended)
			}
		}
	})
}
