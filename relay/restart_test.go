package relay

import (
	"context"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
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

// The long form: go test ./relay -run ConnectsAnd -connects 5000 -v
var connects = flag.Int("connects", 200, "how many subscribers connect and disconnect")

// eventually waits until so is true.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// descriptors is how many files this process has open, without those that a journal opens when it needs them and keeps;
// 0 where it cannot be told.
func descriptors(t *testing.T) (open int) {
	t.Helper()
	all, err := os.ReadDir("/dev/fd")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, file := range all {
		if of, _ := os.Readlink("/dev/fd/" + file.Name()); !strings.Contains(of, "journal.db") {
			open++
		}
	}
	return open
}

func TestConnectsAndDisconnectsLeaveNothingBehind(t *testing.T) {
	memory := newMemory(t)
	fill(t, memory, 1, 50)
	r := newTestRelay(t, memory, nil)
	server := httptest.NewServer(r.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	leave := []func(p *peer){
		func(p *peer) {}, // before the hello
		func(p *peer) { p.send(helloFrame{T: frameHello}) },
		func(p *peer) { p.send("nonsense") },
		func(p *peer) {
			p.send(helloFrame{T: frameHello})
			p.next(frameWelcome)
		},
		func(p *peer) {
			p.send(helloFrame{T: frameHello})
			p.next(frameWelcome)
			p.replay()
		},
		func(p *peer) { // in good order
			p.send(helloFrame{T: frameHello})
			p.next(frameWelcome)
			_ = p.socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
			_ = p.closed()
		},
		func(p *peer) { // with a reset
			p.send(helloFrame{T: frameHello})
			_ = p.socket.NetConn().(*net.TCPConn).SetLinger(0)
		},
	}
	visit := func(n int) {
		dialer := websocket.Dialer{Subprotocols: []string{Protocol}}
		socket, _, err := dialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
		if err != nil {
			t.Error(err)
			return
		}
		defer socket.Close()
		leave[n%len(leave)](&peer{t, socket})
	}
	visit(0) // what stays for ever has begun
	settled := func() bool { return r.hub.open() == 0 }
	eventually(t, "the first to be gone", settled)
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for from := 0; from < *connects; from += 50 {
		var tasks sync.WaitGroup
		for n := from; n < min(from+50, *connects); n++ {
			tasks.Go(func() { visit(n) })
		}
		tasks.Wait()
	}
	eventually(t, "all to be gone", settled)
	eventually(t, "goroutines and descriptors to be back where they were", func() bool {
		return runtime.NumGoroutine() <= goroutines && descriptors(t) <= files
	})
	t.Logf("%d goroutines and %d descriptors before and after %d visits", goroutines, files, *connects)
}
