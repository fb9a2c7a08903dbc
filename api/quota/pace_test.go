package quota

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPersonUsesTheWholeBucketWithoutARefusal(t *testing.T) {
	const minutes = 10
	for _, model := range []func() limiter{fixedWindow, wallWindow, slidingLog, tokenBucket} {
		for _, askers := range []int{1, 32} {
			name := fmt.Sprintf("%s, %d at a time", model().name, askers)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newService(model(), 5*time.Millisecond, 50*time.Millisecond)
					ctx, cancel := context.WithTimeout(t.Context(), minutes*time.Minute)
					defer cancel()
					drive(ctx, NewPacer(PacerConfig{}), askers, s.serve)
					rate := float64(s.allowed) / (minutes * 60)
					t.Logf("%.3f a second, %d allowed, %d refused", rate, s.allowed, s.refused)
					if s.refused > 0 {
						t.Errorf("%d requests were refused", s.refused)
					}
					if rate < 9.5 {
						t.Errorf("%.3f requests a second, want at least 9.5", rate)
					}
				})
			})
		}
	}
}

func TestOnlyProvokedRefusalsAreMet(t *testing.T) {
	const minutes = 10
	for _, model := range []func() limiter{fixedWindow, wallWindow, slidingLog} {
		t.Run(model().name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newService(model(), 5*time.Millisecond, 50*time.Millisecond)
				s.provoked = map[int]bool{500: true, 2000: true, 2001: true, 4000: true}
				ctx, cancel := context.WithTimeout(t.Context(), minutes*time.Minute)
				defer cancel()
				p := NewPacer(PacerConfig{})
				drive(ctx, p, 16, s.serve)
				rate := float64(s.allowed) / (minutes * 60)
				rejected := p.Buckets(time.Now())[0].Rejected
				t.Logf("%.3f a second, %d allowed, %d refused beside %d provoked", rate, s.allowed, s.refused, len(s.provoked))
				if s.refused != 0 || rejected != int64(len(s.provoked)) {
					t.Errorf("%d refusals that were not provoked, %d in all", s.refused, rejected)
				}
				if rate < 9.5 {
					t.Errorf("%.3f requests a second, want at least 9.5", rate)
				}
			})
		})
	}
}

func TestNoWindowOfTheServiceHoldsMoreThanItsLimit(t *testing.T) {
	for _, limit := range []int{1, 5, 37} {
		for _, window := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Second, time.Minute} {
			for _, latency := range []time.Duration{0, 400 * time.Millisecond} {
				t.Run(fmt.Sprintf("%d in %v, latency up to %v", limit, window, latency), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						var log []time.Time
						model := limiter{"", true, func(now time.Time) (int, bool) {
							for len(log) > 0 && now.Sub(log[0]) > window {
								log = log[1:]
							}
							if len(log) == limit {
								return 0, false
							}
							log = append(log, now)
							return limit - len(log), true
						}}
						s := newService(model, 0, latency)
						seconds := int(window.Seconds())
						s.fields = func(remaining int) http.Header {
							return headers(fmt.Sprintf(`"a";r=%d;t=%d`, remaining, seconds), fmt.Sprintf(`"a";q=%d;w=%d`, limit, seconds))
						}
						p := NewPacer(PacerConfig{})
						acquire(t, p, t.Context(), Reads).Done(s.serve()) // the limit must be known first
						ctx, cancel := context.WithTimeout(t.Context(), 20*window)
						defer cancel()
						for priority := range Priority(priorities) {
							go drive(WithPriority(ctx, priority), p, 4, s.serve)
						}
						<-ctx.Done()
						pass(time.Second)
						if s.refused > 0 {
							t.Errorf("%d of %d were refused", s.refused, s.refused+s.allowed)
						}
						t.Logf("%d allowed in 20 windows of %d", s.allowed, limit)
						if s.allowed < 12*limit {
							t.Errorf("%d were allowed in 20 windows of %d", s.allowed, limit)
						}
					})
				})
			}
		}
	}
}

// A production client that uses 70 % of the bucket must not notice a dashboard
// that asks as much as it may below a person.
func TestAnotherClientIsUnharmed(t *testing.T) {
	patterns := []struct {
		name string
		wait func(i int) time.Duration
	}{
		{"evenly", func(int) time.Duration { return 143 * time.Millisecond }},
		{"seven at once", func(i int) time.Duration {
			if i%7 == 0 {
				return 1001 * time.Millisecond
			}
			return 0
		}},
	}
	for _, model := range []func() limiter{fixedWindow, wallWindow, slidingLog, tokenBucket} {
		for i, pattern := range append(patterns, patterns...) {
			priority := Hint + Priority(i/len(patterns))
			t.Run(fmt.Sprintf("%s, %s, priority %d", model().name, pattern.name, priority), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s := newService(model(), 5*time.Millisecond, 50*time.Millisecond)
					ctx, cancel := context.WithTimeout(WithPriority(t.Context(), priority), 2*time.Minute)
					defer cancel()
					p := NewPacer(PacerConfig{})
					own := 0
					go drive(ctx, p, 8, func() Outcome {
						s.mu.Lock()
						own++
						s.mu.Unlock()
						return s.serve()
					})
					refused, asked := 0, 0
					for ; ctx.Err() == nil; asked++ {
						if wait := pattern.wait(asked); wait > 0 {
							pass(wait)
						}
						s.mu.Lock()
						if _, ok := s.limiter.admit(time.Now()); !ok {
							refused++
						}
						s.mu.Unlock()
					}
					pass(time.Second)
					b := p.Buckets(time.Now())[0]
					t.Logf("the other: %d asked, %d refused; this one: %d asked, %d refused, others seen %.2f a second", asked, refused, own, s.refused, b.Others)
					if refused > 0 || s.refused > 0 {
						t.Errorf("the other was refused %d times, this client %d times", refused, s.refused)
					}
					if own == 0 || b.Others > 7.1 {
						t.Errorf("%d own requests, %v of others a second", own, b.Others)
					}
					if s.limiter.tells && b.Others == 0 {
						t.Error("nothing was seen of the other")
					}
				})
			})
		}
	}
}

// A person may use what others leave, and learns how much that is from what the
// reports show: few requests are refused.
func TestAPersonUsesWhatAnotherClientLeaves(t *testing.T) {
	for _, model := range []func() limiter{fixedWindow, wallWindow, slidingLog, tokenBucket} {
		t.Run(model().name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newService(model(), 5*time.Millisecond, 50*time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				p := NewPacer(PacerConfig{})
				go drive(ctx, p, 32, s.serve)
				for ctx.Err() == nil {
					pass(143 * time.Millisecond)
					s.mu.Lock()
					s.limiter.admit(time.Now())
					s.mu.Unlock()
				}
				pass(time.Second)
				rate := float64(s.allowed) / 120
				t.Logf("%.2f a second, %d of %d refused", rate, s.refused, s.seen)
				if rate < 2.5 {
					t.Errorf("%.2f requests a second where 3 are left", rate)
				}
				if s.refused*5 > s.seen {
					t.Errorf("%d of %d were refused", s.refused, s.seen)
				}
			})
		})
	}
}

func BenchmarkAcquireAndDone(b *testing.B) {
	p := NewPacer(PacerConfig{})
	ctx := context.Background()
	o := Outcome{Status: 200, Header: headers(`"default";r=8999999;t=1`, `"default";q=9000000;w=1`)}
	b.ReportAllocs()
	for b.Loop() {
		permit, err := p.Acquire(ctx, Reads)
		if err != nil {
			b.Fatal(err)
		}
		permit.Done(o)
	}
}

// One odd answer, as of something in front of the service, must not hold unasked reads back for a year.
func TestALongLimitThatAnswersLeaveOutHoldsUnaskedReadsBackForADayAtMost(t *testing.T) {
	for _, limit := range []string{``, `"edge";r=0`, `"edge";r=0;t=31536000`} {
		bubble(t, func(t *testing.T) {
			p := NewPacer(PacerConfig{})
			odd := Outcome{Status: 503, Header: headers(limit, `"edge";q=1;w=31536000`)}
			acquire(t, p, as(t, Reconcile), Reads).Done(odd)
			began := time.Now()
			for reads := range 60 {
				acquire(t, p, as(t, Reconcile), Reads).Done(ok(9))
				if passed := time.Since(began); passed > maxReset+time.Minute {
					t.Fatalf("%s: %d reads in %v", limit, reads+1, passed)
				}
			}
		})
	}
}

func TestALongLimitThatAnswersLeaveOutStillCounts(t *testing.T) {
	tests := map[string]struct {
		field string
		until time.Duration // answers leave it out
		most  int           // unasked reads from then on
	}{
		"within an hour":  {`"day";r=100;t=60`, 46 * time.Minute, 30}, // 100 a day, of which three in ten
		"until its reset": {`"day";r=0;t=86400`, 23 * time.Hour, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{Reserve: -1})
				acquire(t, p, as(t, Hint), Reads).Done(Outcome{Status: 200, Header: headers(test.field, `"day";q=100;w=86400`)})
				for began := time.Now(); time.Since(began) < test.until; {
					acquire(t, p, as(t, Person), Reads).Done(ok(9))
					pass(time.Minute)
				}
				ctx, cancel := context.WithTimeout(as(t, Hint), time.Minute)
				defer cancel()
				reads := 0
				drive(ctx, p, 1, func() Outcome { reads++; return ok(9) })
				if reads > test.most {
					t.Errorf("%d reads went out, want %d at most", reads, test.most)
				}
			})
		})
	}
}
