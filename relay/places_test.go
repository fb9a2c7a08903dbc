package relay

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools held of the tests before
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// limited makes places of a number of connections.
func limited(ln net.Listener, limit int, closed func()) *places {
	p := newPlaces(ln, slog.New(slog.DiscardHandler), closed)
	p.limit = limit
	return p
}

// entered dials n and returns both ends of the connection that g admits.
func entered(t *testing.T, n *network, g *places) (theirs net.Conn, ours *placed) {
	t.Helper()
	dialled := make(chan net.Conn, 1)
	go func() {
		c, err := n.dial(t.Context(), "", "")
		if err != nil {
			t.Error(err)
		}
		dialled <- c
	}()
	c, err := g.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return <-dialled, c.(*placed)
}

func held(g *places) (known, strangers int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known.Len(), g.strangers.Len() + g.large.Len()
}

func isClosed(c net.Conn) bool {
	_, err := c.Write([]byte{0})
	return err != nil
}

func TestANewcomerTakesThePlaceOfTheStrangerWhoCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		evicted := 0
		g := limited(n, 3, func() { evicted++ })
		var theirs []net.Conn
		var ours []*placed
		for i := range 5 {
			a, b := entered(t, n, g)
			theirs, ours = append(theirs, a), append(ours, b)
			if i == 0 {
				vouchFor(withPlace(t.Context(), b))
			}
		}
		for i, gone := range []bool{false, true, true, false, false} {
			go func() { _, _ = io.ReadFull(ours[i], make([]byte, 1)) }()
			if isClosed(theirs[i]) != gone {
				t.Errorf("connection %d: closed %v, want %v", i, !gone, gone)
			}
		}
		if known, strangers := held(g); evicted != 2 || known != 1 || strangers != 2 {
			t.Errorf("%d were shown out, %d known and %d strangers are left", evicted, known, strangers)
		}
		for _, c := range ours {
			_ = c.Close()
			_ = c.Close()
		}
		if known, strangers := held(g); known+strangers != 0 {
			t.Errorf("%d known and %d strangers are held after all have left", known, strangers)
		}
	})
}

func TestWhenAllAreKnownTheOneIdleLongestMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		g := limited(n, 4, func() {})
		var theirs []net.Conn
		var ours []*placed
		enter := func() {
			a, b := entered(t, n, g)
			theirs, ours = append(theirs, a), append(ours, b)
		}
		for i := range 4 {
			enter()
			ours[i].move(&g.known)
			go func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }(ours[i])
		}
		_, _ = theirs[0].Write([]byte("it is not idle"))
		synctest.Wait()
		for range 5 { // strangers, who find room for two
			enter()
		}
		for i, gone := range []bool{false, true, true, false, true, true, true, false, false} {
			go func() { _, _ = io.ReadFull(ours[i], make([]byte, 1)) }()
			if isClosed(theirs[i]) != gone {
				t.Errorf("connection %d: closed %v, want %v", i, !gone, gone)
			}
		}
		for i, c := range ours {
			_, _ = c.Close(), theirs[i].Close()
		}
	})
}

// exhausted is a listener in a process that may open no more files for a while.
type exhausted struct {
	net.Listener
	times int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.times--; e.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return e.Listener.Accept()
}

func TestConnectionsMakeRoomWhenNoMoreFilesCanBeOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log := newNetwork(), &recorded{}
		made := 0
		short := &exhausted{Listener: n}
		p := newPlaces(short, log.logger(), func() { made++ })
		for range 20 {
			entered(t, n, p)
		}
		short.times = 1
		if _, err := p.Accept(); err == nil {
			t.Error("a connection was accepted without a file")
		}
		if known, strangers := held(p); made != spareDescriptors || known+strangers != 20-spareDescriptors {
			t.Errorf("%d made room, %d are left", made, known+strangers)
		}
		if !strings.Contains(log.String(), "ulimit -n") {
			t.Errorf("the log is %q", log)
		}
		for range 20 {
			p.close(p.least())
		}
	})
}

// serveLimited serves r on a network with so many places until the test ends.
func serveLimited(t *testing.T, r *Relay, limit int) (*network, *places) {
	n := newNetwork()
	p := limited(n, limit, r.metrics.evicted.Inc)
	server := &http.Server{Handler: r.Handler(), ConnContext: withPlace}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n, p
}

// deliverAnew posts a signed body over a connection of its own.
func deliverAnew(t *testing.T, n *network, body []byte) {
	t.Helper()
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DialContext: n.dial, DisableKeepAlives: true}}
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1"+WebhookPath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-svc-signature", sign(testSecret, body))
	answer, err := client.Do(req)
	if err != nil {
		t.Fatalf("a sender is kept out: %v", err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("a delivery: %d", answer.StatusCode)
	}
}

// delivered is a signed delivery as it goes over the wire.
func delivered(body []byte) string {
	return fmt.Sprintf("POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nX-Svc-Signature: %s\r\n\r\n%s",
		len(body), sign(testSecret, body), body)
}

// fullOf are requests with which others take all places.
var fullOf = map[string]string{
	"strangers with half a header": "POST /webhooks HTTP/1.1\r\nHost: x\r\n",
	"strangers with half a body": "POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\nX-Svc-Signature: v0=" +
		strings.Repeat("0", 64) + "\r\n\r\n" + strings.Repeat(" ", 50_000),
	"readers":                             "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + testToken + "\r\n\r\n",
	"those who repeat what they captured": delivered(eventBody(1)),
}

func TestWhoTakesEveryPlaceKeepsNeitherASenderNorADashboardOut(t *testing.T) {
	for name, request := range fullOf {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const places = 50
				r := newTestRelay(t, newMemory(t), nil)
				n, _ := serveLimited(t, r, places)
				p := connect(t, n, helloFrame{T: frameHello})
				p.next(frameWelcome)
				p.next(frameLive)
				deliverAnew(t, n, eventBody(1))
				p.next(frameEvents)
				var all []net.Conn
				for i := range 4 * places {
					c, err := n.dial(t.Context(), "", "")
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, c)
					go func() {
						_, _ = io.WriteString(c, request)
						_, _ = io.Copy(io.Discard, c)
					}()
					synctest.Wait()
					if i%places == places-1 {
						deliverAnew(t, n, eventBody(2+i/places))
						if name == "readers" {
							continue // they came later, and the dashboard may be the one that is idle longest
						}
						if item := p.next(frameEvents).Items[0]; item.Seq != int64(2+i/places) {
							t.Errorf("event %d is at %d", 2+i/places, item.Seq)
						}
					}
				}
				for _, c := range all {
					_ = c.Close()
				}
			})
		})
	}
}

// Strangers begin bodies of 1 MiB and pause shortly before their end.
func TestTheBodiesOfStrangersTakeBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const strangers = maxLarge + 20
		r := newTestRelay(t, newMemory(t), nil)
		n, p := serveLimited(t, r, 2*strangers)
		head := "POST /webhooks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX-Svc-Signature: v0=" + strings.Repeat("0", 64) + "\r\n\r\n"
		piece := fmt.Appendf(nil, "4000\r\n%s\r\n", strings.Repeat(" ", 0x4000))
		before := heap()
		var tasks sync.WaitGroup
		var all []net.Conn
		for range strangers {
			c, err := n.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			tasks.Go(func() {
				_, err := io.WriteString(c, head)
				for sent := 0; err == nil && sent < MaxBody/0x4000-1; sent++ {
					_, err = c.Write(piece)
				}
			})
			synctest.Wait()
		}
		if grown := heap() - before; grown > maxLarge*2*MaxBody {
			t.Errorf("the heap has grown by %d bytes", grown)
		}
		if _, left := held(p); left != maxLarge {
			t.Errorf("%d strangers are left", left)
		}
		deliverAnew(t, n, padded(1, 900_000))
		for _, c := range all {
			_ = c.Close()
		}
		tasks.Wait()
	})
}

// Anyone can send a wrong signature, or what was captured once more.
func TestOnlyANewEventOrATokenMakesAConnectionKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n, g := serveLimited(t, r, 10)
		for _, test := range []struct {
			name, request string
			known         bool
		}{
			{"a wrong signature", "POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nX-Svc-Signature: v0=" + strings.Repeat("0", 64) + "\r\n\r\n{}", false},
			{"a probe", "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", false},
			{"a wrong token", "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n", false},
			{"an event", delivered(eventBody(1)), true},
			{"an event again", delivered(eventBody(1)), false},
			{"a signed body that is no event", delivered([]byte("{}")), false},
			{"a challenge", delivered([]byte(`{"type":"webhook_endpoint.verification_challenge","source":{"id":"we_1"}}`)), false},
			{"a token", "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + testToken + "\r\n\r\n", true},
		} {
			c, err := n.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(c, test.request); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			synctest.Wait()
			if known, _ := held(g); (known == 1) != test.known {
				t.Errorf("%s: known %v, want %v", test.name, known == 1, test.known)
			}
			_ = c.Close()
			synctest.Wait()
		}
	})
}
