package quota

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func TestNothingIsInferredOfOthersWhereThereAreNone(t *testing.T) {
	for _, model := range []func() limiter{fixedWindow, wallWindow, slidingLog, tokenBucket} {
		for _, askers := range []int{1, 7, 32} {
			t.Run(fmt.Sprintf("%s, %d at a time", model().name, askers), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					p := NewPacer(PacerConfig{})
					s := newService(model(), 5*time.Millisecond, 50*time.Millisecond)
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					random := rand.New(rand.NewPCG(1, 2))
					drive(ctx, p, askers, func() Outcome {
						o := s.serve()
						s.mu.Lock()
						rest := time.Duration(random.Int64N(int64(300 * time.Millisecond)))
						s.mu.Unlock()
						pass(rest)
						return o
					})
					if b := bucketOf(t, p, "default"); b.Others != 0 || b.Own == 0 {
						t.Errorf("own %v, others %v", b.Own, b.Others)
					}
					if _, others, _ := Sum(bucketOf(t, p, "default").Hour); others > s.seen/100 {
						t.Errorf("%d own requests, %d of others within the hour", s.seen, others)
					}
				})
			})
		}
	}
}

func TestOthersAreSeenInWindowsOfASecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		for range 60 {
			told(t, p, Reads, `"default";r=3;t=1`, `"default";q=10;w=1`) // 6 of others, 1 own
			pass(1001 * time.Millisecond)
		}
		if b := bucketOf(t, p, "default"); b.Others < 5.8 || b.Others > 6.1 {
			t.Errorf("others %v a second, want 6", b.Others)
		}
	})
}

func TestOthersAreSeenBetweenReportsOfALongWindow(t *testing.T) {
	type step struct {
		after  time.Duration
		r, t   int
		others int
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"own requests only", []step{{0, 99, 60, 0}, {time.Second, 98, 59, 0}, {time.Second, 97, 58, 0}}},
		{"others between", []step{{0, 99, 60, 0}, {time.Second, 90, 59, 8}, {time.Second, 87, 58, 2}}},
		{"the window resets in between", []step{{0, 40, 10, 0}, {20 * time.Second, 94, 50, 5}, {time.Second, 93, 49, 0}}},
		{"the window resets and nobody else asked", []step{{0, 40, 10, 0}, {20 * time.Second, 99, 50, 0}}},
		{"quota comes back bit by bit", []step{{0, 40, 60, 0}, {time.Second, 45, 60, 0}, {time.Second, 43, 60, 1}}},
		{"quota comes back after a t that is not the window's", []step{{0, 40, 2, 0}, {4 * time.Second, 41, 17, 0}, {time.Second, 40, 16, 0}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := NewPacer(PacerConfig{})
				before := 0
				for i, s := range test.steps {
					pass(s.after)
					told(t, p, Reads, fmt.Sprintf(`"a";r=%d;t=%d`, s.r, s.t), `"a";q=100;w=60`)
					total := 0
					for _, sample := range bucketOf(t, p, "a").History {
						total += sample.Others
					}
					if total-before != s.others {
						t.Errorf("step %d: %d of others, want %d", i+1, total-before, s.others)
					}
					before = total
				}
			})
		})
	}
}

func TestConcurrentRequestsAreNotTakenForOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := NewPacer(PacerConfig{})
		random := rand.New(rand.NewPCG(3, 4))
		left := 1000
		for range 40 {
			var permits []Permit
			var remaining []int
			for range 8 {
				permits = append(permits, acquire(t, p, t.Context(), Reads))
				left--
				remaining = append(remaining, left)
			}
			for _, i := range random.Perm(len(permits)) {
				pass(time.Millisecond)
				permits[i].Done(Outcome{Status: 200, Header: headers(fmt.Sprintf(`"a";r=%d;t=300`, remaining[i]), `"a";q=1000;w=600`)})
			}
		}
		if b := bucketOf(t, p, "a"); b.Others != 0 {
			t.Errorf("others %v", b.Others)
		}
	})
}
