package relay

import (
	"context"
	"flag"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// The long forms of the tests over many connections:
//
//	go test ./relay -run 'Connects|ComeBackOver' -connects 5000 -returning 1000 -v
var (
	connects  = flag.Int("connects", 200, "how many subscribers connect and disconnect")
	returning = flag.Int("returning", 50, "how many subscribers come back after a restart over sockets")
)

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

// descriptors is how many files this process has open; 0 where it cannot be told.
func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/dev/fd")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(open)
}

func TestConnectsAndDisconnectsLeaveNothingBehind(t *testing.T) {
	memory := newMemory(t)
	fill(t, memory, 1, 50)
	r := newTestRelay(t, memory, nil)
	address := listening(t, r)
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
		socket, _, err := dialer.Dial("ws://"+address+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
		if err != nil {
			t.Error(err)
			return
		}
		defer socket.Close()
		leave[n%len(leave)](&peer{t, socket})
	}
	visit(0) // what stays for ever has begun
	settled := func() bool { return r.Streams() == 0 }
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

func TestSubscribersComeBackOverSockets(t *testing.T) {
	t.Parallel()
	memory := newMemory(t)
	start := func(on string) (r *Relay, address string, stop func()) {
		r = newTestRelay(t, memory, nil)
		var listener net.Listener
		eventually(t, "the port, which another program may have meanwhile", func() bool {
			var err error
			listener, err = net.Listen("tcp", on)
			return err == nil
		})
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- r.Serve(ctx, listener) }()
		stop = sync.OnceFunc(func() {
			cancel()
			if err := <-served; err != nil {
				t.Errorf("serve: %v", err)
			}
		})
		t.Cleanup(stop)
		return r, listener.Addr().String(), stop
	}
	r, address, stop := start("127.0.0.1:0")
	collectors := make([]*collector, *returning)
	for i := range collectors {
		collectors[i] = newCollector()
		run(t, newTestSubscriber(t, SubscriberConfig{URL: "http://" + address}), collectors[i])
	}
	for _, c := range collectors {
		c.awaitState(t, Live)
	}
	deliver(t, r.Ingest(), 1, 10)
	stop()
	r, _, _ = start(address)
	restarted := time.Now()
	deliver(t, r.Ingest(), 11, 20)
	var back []time.Duration
	for _, c := range collectors {
		expectRow(t, c.awaitItems(t, 20), 1, 20)
		c.await(t, "live again", func() bool { return c.statuses[len(c.statuses)-1].State == Live })
		c.mu.Lock()
		back = append(back, c.statuses[len(c.statuses)-1].Since.Sub(restarted))
		c.mu.Unlock()
	}
	slices.Sort(back)
	most := 0
	for i, from := range back { // of those within a second, wherever it begins
		n, _ := slices.BinarySearch(back, from+time.Second)
		most = max(most, n-i)
	}
	t.Logf("%d subscribers are back after %v to %v, at most %.1f %% of them within a second",
		*returning, back[0], back[len(back)-1], float64(100*most)/float64(*returning))
	if *returning >= 1000 && (most > *returning*15/100 || back[len(back)-1] > 30*time.Second) {
		t.Error("they come too close together, or too late")
	}
}
