package quota

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// limiter is a model of a service's limiter of 10 requests a second.
type limiter struct {
	name  string
	tells bool // whether its answers show even spending of others
	admit func(now time.Time) (remaining int, ok bool)
}

const modelLimit = 10

// fixedWindow begins a window with its first request.
func fixedWindow() limiter {
	var begin time.Time
	used := 0
	return limiter{"fixed window from the first request", true, func(now time.Time) (int, bool) {
		if now.Sub(begin) >= time.Second {
			begin, used = now, 0
		}
		return count(&used)
	}}
}

// wallWindow begins a window with each second of the clock.
func wallWindow() limiter {
	var second int64
	used := 0
	return limiter{"fixed window aligned to the clock", true, func(now time.Time) (int, bool) {
		if now.Unix() != second {
			second, used = now.Unix(), 0
		}
		return count(&used)
	}}
}

func count(used *int) (int, bool) {
	if *used == modelLimit {
		return 0, false
	}
	*used++
	return modelLimit - *used, true
}

// slidingLog counts the requests of the second before each.
func slidingLog() limiter {
	var log []time.Time
	return limiter{"sliding log", true, func(now time.Time) (int, bool) {
		for len(log) > 0 && now.Sub(log[0]) > time.Second {
			log = log[1:]
		}
		if len(log) == modelLimit {
			return 0, false
		}
		log = append(log, now)
		return modelLimit - len(log), true
	}}
}

// tokenBucket holds as many tokens as the limit and fills at its rate.
func tokenBucket() limiter {
	tokens, last := float64(modelLimit), time.Time{}
	return limiter{"token bucket", false, func(now time.Time) (int, bool) {
		if !last.IsZero() {
			tokens = min(modelLimit, tokens+modelLimit*now.Sub(last).Seconds())
		}
		last = now
		if tokens < 1 {
			return 0, false
		}
		tokens--
		return int(tokens), true
	}}
}

// service answers through a limiter, with latency both ways.
type service struct {
	mu       sync.Mutex
	random   *rand.Rand
	limiter  limiter
	least    time.Duration
	most     time.Duration
	allowed  int
	refused  int
	provoked map[int]bool // requests to refuse whatever the limiter says
	seen     int
	fields   func(remaining int) http.Header
}

// tenASecond is the fields of the models above.
func tenASecond(remaining int) http.Header {
	return headers(fmt.Sprintf(`"default";r=%d;t=1`, remaining), `"default";q=10;w=1`)
}

func newService(l limiter, least, most time.Duration) *service {
	return &service{random: rand.New(rand.NewPCG(7, 11)), limiter: l, least: least, most: most, fields: tenASecond}
}

// serve takes the way there, asks the limiter, and takes the way back.
func (s *service) serve() Outcome {
	s.mu.Lock()
	latency := s.least + time.Duration(s.random.Int64N(int64(s.most-s.least)+1))
	there := time.Duration(s.random.Float64() * float64(latency))
	s.mu.Unlock()
	sent := time.Now()
	<-time.After(there)
	s.mu.Lock()
	s.seen++
	remaining, ok := s.limiter.admit(time.Now())
	status := http.StatusOK
	switch {
	case s.provoked[s.seen]:
		status = http.StatusTooManyRequests
	case ok:
		s.allowed++
	default:
		s.refused++
		status = http.StatusTooManyRequests
	}
	s.mu.Unlock()
	<-time.After(latency - there)
	return Outcome{Status: status, Sent: sent, Received: time.Now(), PerSecond: status == http.StatusTooManyRequests,
		Header: s.fields(remaining)}
}

func headers(limits, policy string) http.Header {
	h := http.Header{}
	if limits != "" {
		h.Set("RateLimit", limits)
	}
	if policy != "" {
		h.Set("RateLimit-Policy", policy)
	}
	return h
}

// drive has n askers ask as fast as they may until ctx ends.
func drive(ctx context.Context, p *Pacer, n int, serve func() Outcome) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for {
				permit, err := p.Acquire(ctx, Reads)
				if err != nil {
					return
				}
				permit.Done(serve())
			}
		})
	}
	wg.Wait()
}
