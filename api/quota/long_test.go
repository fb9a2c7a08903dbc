package quota

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// account is a service that counts each request in several windows, all of which began with it.
type account struct {
	windows []*window
	lines   bool // each policy has a line of its own
	silent  bool // no policy is told, only what is left
	served  int
	refused int
}

type window struct {
	name    string
	q, left int
	lasts   time.Duration
	resets  time.Time
}

// of is a window with left of q requests left until it resets.
func of(name string, left, q int, lasts, resets time.Duration) *window {
	return &window{name: name, q: q, left: left, lasts: lasts, resets: time.Now().Add(resets)}
}

// serve answers within 20 ms.
func (a *account) serve() Outcome {
	pass(20 * time.Millisecond)
	status := http.StatusOK
	var limits, policies []string
	for _, w := range a.windows {
		for !time.Now().Before(w.resets) {
			w.left, w.resets = w.q, w.resets.Add(w.lasts)
		}
		if w.left == 0 {
			status = http.StatusTooManyRequests
			a.refused++
		}
		w.left = max(w.left-1, 0)
		seconds := (time.Until(w.resets) + time.Second - 1) / time.Second
		limits = append(limits, fmt.Sprintf(`"%s";r=%d;t=%d`, w.name, w.left, seconds))
		policies = append(policies, fmt.Sprintf(`"%s";q=%d;w=%d`, w.name, w.q, int(w.lasts.Seconds())))
	}
	a.served++
	h := http.Header{"Ratelimit": limits, "Ratelimit-Policy": policies}
	if !a.lines {
		h = headers(strings.Join(limits, ", "), strings.Join(policies, ", "))
	}
	if a.silent {
		h.Del("RateLimit-Policy")
	}
	return Outcome{Status: status, Header: h}
}

// reads drives reads of one priority for a time and counts them.
func (a *account) reads(t *testing.T, p *Pacer, priority Priority, lasting time.Duration) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(as(t, priority), lasting)
	defer cancel()
	before := a.served
	drive(ctx, p, 2, a.serve)
	return a.served - before
}

const day = 24 * time.Hour

func second() *window { return of("second", 10, 10, time.Second, time.Second) }

func TestALongWindowDoesNotStarveTheScreen(t *testing.T) {
	tests := []struct {
		name string
		open func() *account
		soon int // reads in the first ten seconds, at least
		most int // unasked reads in the whole window
	}{
		{"an hour", func() *account {
			return &account{windows: []*window{second(), of("hour", 1000, 1000, time.Hour, time.Hour)}}
		}, 25, 300},
		{"a day", func() *account {
			return &account{windows: []*window{second(), of("day", 5000, 5000, day, day)}}
		}, 25, 1500},
		{"a day beside ten seconds", func() *account {
			return &account{windows: []*window{of("burst", 10, 10, 10*time.Second, 10*time.Second), of("daily", 5000, 5000, day, day)}}
		}, 3, 1500},
		{"a minute, an hour and a day in one line", func() *account {
			return &account{windows: []*window{second(), of("minute", 100, 100, time.Minute, time.Minute),
				of("hour", 1000, 1000, time.Hour, time.Hour), of("day", 5000, 5000, day, day)}}
		}, 13, 1500},
		{"an hour and a day, each in a line", func() *account {
			return &account{lines: true, windows: []*window{second(), of("hour", 1000, 1000, time.Hour, time.Hour), of("day", 5000, 5000, day, day)}}
		}, 25, 1500},
		{"a gateway's day before the service's second", func() *account {
			return &account{lines: true, windows: []*window{of("gateway", 2000, 2000, day, day), second()}}
		}, 25, 600},
		{"two of one name", func() *account {
			return &account{windows: []*window{of("default", 10, 10, time.Second, time.Second), of("default", 5000, 5000, day, day)}}
		}, 25, 1500},
		{"a day of which half is left for a third of it", func() *account {
			return &account{windows: []*window{second(), of("day", 2500, 5000, day, day/3)}}
		}, 25, 500},
		{"a day without its policy: of what is left each time", func() *account {
			return &account{silent: true, windows: []*window{of("day", 5000, 5000, day, day)}}
		}, 25, 3600},
		{"a hundred a day", func() *account {
			return &account{windows: []*window{second(), of("day", 100, 100, day, day)}}
		}, 14, 30},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a, p := test.open(), NewPacer(PacerConfig{})
				end := a.windows[0].resets
				for _, w := range a.windows {
					end = later(end, w.resets)
				}
				if soon := a.reads(t, p, Reconcile, 10*time.Second); soon < test.soon {
					t.Errorf("%d reads in ten seconds, want %d", soon, test.soon)
				}
				a.reads(t, p, Reconcile, time.Until(end)/2)
				wait, permit := waited(t, p, as(t, Hint), Reads)
				permit.Done(a.serve())
				if wait > 10*time.Second {
					t.Errorf("a read that an event asks for waited %v behind reconciling", wait)
				}
				late := a.reads(t, p, Reconcile, time.Until(end)-time.Minute)
				t.Logf("%d reads, of them %d in the second half", a.served, late)
				if a.served > test.most+3 || a.refused > 0 {
					t.Errorf("%d unasked reads in the window, want %d at most; %d were refused", a.served, test.most, a.refused)
				}
				if late < test.most/5 {
					t.Errorf("%d reads in the second half of the window, of %d", late, test.most)
				}
			})
		})
	}
}

func TestNearTheEndOfALongWindowTheReserveIsKept(t *testing.T) {
	tests := []struct {
		name string
		left int
	}{
		{"40 of 5,000", 41},
		{"one left", 2},
		{"nothing left, perhaps only for other calls", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := &account{windows: []*window{second(), of("day", test.left, 5000, day, 2*time.Hour)}}
				p := NewPacer(PacerConfig{})
				acquire(t, p, as(t, Reconcile), Reads).Done(a.serve())
				if wait, _ := waited(t, p, t.Context(), Reads); wait > time.Second {
					t.Errorf("a person waited %v", wait)
				}
				for _, priority := range []Priority{Hint, Timer, Reconcile} {
					ctx, cancel := context.WithTimeout(as(t, priority), 119*time.Minute/3)
					if _, err := p.Acquire(ctx, Reads); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("priority %d was let through at the reserve: %v", priority, err)
					}
					cancel()
				}
				if wait, _ := waited(t, p, as(t, Reconcile), Reads); wait > time.Minute+time.Second {
					t.Errorf("waited %v after the reset", wait)
				}
			})
		})
	}
}

func TestABucketSaysUntilWhenReadsWaitForIt(t *testing.T) {
	tests := []struct {
		name  string
		left  int
		reads int // before
		next  time.Duration
		kept  bool
	}{
		{"nothing waits", 5000, 3, 0, false},
		{"the first half of the share is used", 5000, 800, 2 * time.Minute, false},
		{"the reserve is left", 41, 1, 2 * time.Hour, true},
		{"nothing is left", 1, 1, 2 * time.Hour, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				daily := of("day", test.left, 5000, day, 2*time.Hour)
				if test.left == 5000 {
					daily.resets = time.Now().Add(day)
				}
				a, p := &account{windows: []*window{second(), daily}}, NewPacer(PacerConfig{})
				ctx, cancel := context.WithCancel(as(t, Reconcile))
				for range test.reads {
					acquire(t, p, ctx, Reads).Done(a.serve())
				}
				if test.next > 0 {
					go drive(ctx, p, 1, a.serve)
				}
				pass(time.Second)
				now := time.Now()
				for _, b := range p.Buckets(now) {
					switch {
					case b.Policy != "day" || test.next == 0:
						if !b.Next.IsZero() {
							t.Errorf("%s: something waits until %v", b.Policy, b.Next)
						}
					case b.Next.Sub(now) > test.next || b.Next.Sub(now) < test.next-2*time.Minute || b.Kept() != test.kept:
						t.Errorf("%s: waits %v, until the bucket is full: %v; want %v and %v", b.Policy, b.Next.Sub(now), b.Kept(), test.next, test.kept)
					}
				}
				cancel()
				pass(time.Second)
			})
		})
	}
}

func TestAnAgedReadDoesNotTakeAPersonsTurnFromTheReserveOfALongWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := &account{windows: []*window{second(), of("day", 51, 5000, day, time.Hour)}}
		p := NewPacer(PacerConfig{})
		acquire(t, p, as(t, Reconcile), Reads).Done(a.serve())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
		defer cancel()
		for range 20 { // waiting persons, most of the time
			go func() {
				for ctx.Err() == nil {
					if permit, err := p.Acquire(ctx, Reads); err == nil {
						pass(100 * time.Millisecond)
						permit.Done(Outcome{Status: http.StatusOK})
					}
				}
			}()
		}
		if _, err := p.Acquire(WithPriority(ctx, Reconcile), Reads); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a reconciling read was let through at the reserve: %v", err)
		}
		pass(time.Second)
	})
}
