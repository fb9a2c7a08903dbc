package relay

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestAThousandSubscribersComeBackSpreadOutAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const subscribers, events = 1000, 3
		memory := newMemory(t)
		var mu sync.Mutex
		var current *network
		dialled := map[time.Duration]int{} // of the seconds after the restart
		var restarted time.Time
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			mu.Lock()
			n := current
			if !restarted.IsZero() {
				dialled[time.Since(restarted).Truncate(time.Second)]++
			}
			mu.Unlock()
			return n.dial(ctx, "", "")
		}
		start := func() (r *Relay, stop func()) {
			r = newTestRelay(t, memory, nil)
			n := newNetwork()
			mu.Lock()
			current = n
			mu.Unlock()
			ctx, cancel := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- r.Serve(ctx, n) }()
			return r, func() {
				cancel()
				if err := <-served; err != nil {
					t.Errorf("serve: %v", err)
				}
			}
		}
		r, stop := start()
		ctx, cancel := context.WithCancel(t.Context())
		var tasks sync.WaitGroup
		collectors := make([]*collector, subscribers)
		for i := range collectors {
			collectors[i] = newCollector()
			s := newTestSubscriber(t, SubscriberConfig{URL: "http://relay", InsecureHTTP: true, Dial: dial})
			tasks.Go(func() {
				if err := s.Run(ctx, collectors[i]); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		deliver(t, r.Ingest(), 1, events)
		stop()
		r, stop = start()
		mu.Lock()
		restarted = time.Now()
		mu.Unlock()
		deliver(t, r.Ingest(), events+1, 2*events)
		<-time.After(30 * time.Second)
		synctest.Wait()
		for _, c := range collectors {
			c.mu.Lock()
			expectRow(t, c.items, 1, 2*events)
			c.mu.Unlock()
		}
		mu.Lock()
		for second, n := range dialled {
			if n > subscribers*15/100 {
				t.Errorf("%d of %d come in second %v", n, subscribers, second)
			}
		}
		mu.Unlock()
		cancel()
		tasks.Wait()
		stop()
	})
}
