package relay

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const fanOutRate = 200 // events a second

// BenchmarkFanOut posts up to 200 signed events of 400 bytes a second over SQLite; an operation is one of them. It reports how long they took from the post to every subscriber's frame. The
// subscribers share the process and its processors with the relay.
//
//	go test ./relay -run '^$' -bench FanOut -benchtime 1000x
func BenchmarkFanOut(b *testing.B) {
	for _, subscribers := range []int{100, 1000} {
		b.Run(strconv.Itoa(subscribers), func(b *testing.B) { fanOut(b, subscribers) })
	}
}

func fanOut(b *testing.B, subscribers int) {
	r := newTestRelay(b, openSQLite(b), nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	posted := make([]time.Time, b.N+1)
	took := make([][]time.Duration, subscribers)
	var reading sync.WaitGroup
	for i := range subscribers {
		p := liveAt(b, listener.Addr().String())
		reading.Go(func() {
			for len(took[i]) < b.N {
				_, text, err := p.socket.ReadMessage()
				if err != nil {
					b.Error(err)
					return
				}
				for range bytes.Count(text, []byte(`{"seq":`)) {
					took[i] = append(took[i], time.Since(posted[len(took[i])+1]))
				}
			}
		})
	}
	ticker := time.NewTicker(time.Second / fanOutRate)
	defer ticker.Stop()
	b.ResetTimer()
	for n := 1; n <= b.N; n++ {
		<-ticker.C
		posted[n] = time.Now()
		if w := serve(r.Ingest(), signedRequest(padded(n, 400))); w.Code != http.StatusOK {
			b.Fatalf("event %d: %d", n, w.Code)
		}
	}
	reading.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	for _, n := range []int{50, 99} {
		b.ReportMetric(all[(len(all)-1)*n/100].Seconds()*1000, "p"+strconv.Itoa(n)+"-ms")
	}
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// liveAt returns a stream of an address that is live and has seen nothing.
func liveAt(b *testing.B, address string) *peer {
	dialer := websocket.Dialer{Subprotocols: []string{Protocol}}
	socket, _, err := dialer.Dial("ws://"+address+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = socket.Close() })
	p := &peer{b, socket}
	p.send(helloFrame{T: frameHello, From: FromLatest})
	p.next(frameWelcome)
	p.next(frameLive)
	return p
}
