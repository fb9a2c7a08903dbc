package relay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// entered dials n and returns both ends of the connection that g admits.
func entered(t *testing.T, n *network, g *connectionLimiter) (theirs net.Conn, ours *limitedConn) {
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
	return <-dialled, c.(*limitedConn)
}

func held(g *connectionLimiter) (known, strangers int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known.Len(), g.strangers.Len()
}

func isClosed(c net.Conn) bool {
	_, err := c.Write([]byte{0})
	return err != nil
}

func TestANewcomerTakesThePlaceOfTheStrangerWhoCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		evicted := 0
		g := newConnectionLimiter(n, 3, func() { evicted++ })
		var theirs []net.Conn
		var ours []*limitedConn
		for i := range 5 {
			a, b := entered(t, n, g)
			theirs, ours = append(theirs, a), append(ours, b)
			if i == 0 {
				vouchFor(withConnection(t.Context(), b))
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
		g := newConnectionLimiter(n, 4, func() {})
		var theirs []net.Conn
		var ours []*limitedConn
		enter := func() {
			a, b := entered(t, n, g)
			theirs, ours = append(theirs, a), append(ours, b)
		}
		for i := range 4 {
			enter()
			ours[i].vouch()
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

func TestTheLimitLeavesDescriptorsForTheRest(t *testing.T) {
	for _, test := range []struct {
		descriptors uint64
		listeners   int
		want        int
	}{
		{0, 1, 8192}, {0, 2, 4096}, {1 << 20, 1, 8192}, {8191, 1, 8063}, {1024, 1, 896}, {1024, 2, 448}, {256, 1, 128}, {192, 1, 96}, {128, 2, 32}, {64, 1, 32}, {1, 2, 1},
	} {
		if got := connectionLimit(test.descriptors, test.listeners); got != test.want {
			t.Errorf("%d descriptors, %d listeners: %d connections, want %d", test.descriptors, test.listeners, got, test.want)
		}
	}
}

// Every place is taken by strangers; the sender's deliveries and the stream of a
// dashboard go on, and no connection that was vouched for is lost.
func TestStrangersWhoTakeEveryPlaceKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 50
		n := newNetwork()
		r := newTestRelay(t, newMemory(t), nil)
		server := &http.Server{Handler: r.Handler(), ConnContext: withConnection}
		served := make(chan error, 1)
		go func() { served <- server.Serve(newConnectionLimiter(n, places, r.metrics.evicted.Inc)) }()
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		sender := &http.Client{Transport: &http.Transport{DialContext: n.dial}}
		deliverBy := func(n int) {
			t.Helper()
			req := signedRequest(eventBody(n))
			req.RequestURI, req.URL.Scheme, req.URL.Host = "", "http", "127.0.0.1"
			answer, err := sender.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("event %d: %d", n, answer.StatusCode)
			}
			if item := p.next(frameEvents).Items[0]; item.Seq != int64(n) {
				t.Errorf("event %d is at %d", n, item.Seq)
			}
		}
		deliverBy(1)
		for i := range 4 * places {
			c, err := n.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			go func() { _, _ = c.Write([]byte("POST /webhooks HTTP/1.1\r\nHost: x\r\n")) }()
			if i == 2*places {
				sender.CloseIdleConnections() // the next delivery comes over a new one
				synctest.Wait()
				deliverBy(2)
			}
		}
		synctest.Wait()
		deliverBy(3)
		if evicted := scraped(t, r)["tillwatch_connections_evicted_total"]; evicted != fmt.Sprint(4*places-(places-2)) {
			t.Errorf("%s strangers were shown out", evicted)
		}
		sender.CloseIdleConnections()
		_ = server.Close()
		<-served
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// However many hold a token, one who delivers finds a place.
func TestReadersWhoTakeEveryPlaceDoNotKeepTheSenderOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 50
		n := newNetwork()
		r := newTestRelay(t, newMemory(t), nil)
		server := &http.Server{Handler: r.Handler(), ConnContext: withConnection}
		served := make(chan error, 1)
		go func() { served <- server.Serve(newConnectionLimiter(n, places, r.metrics.evicted.Inc)) }()
		for range 2 * places {
			c, err := n.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			go func() {
				_, _ = io.WriteString(c, "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+testToken+"\r\n\r\n")
				_, _ = io.Copy(io.Discard, c)
			}()
			synctest.Wait()
		}
		for event := range places { // over a connection each
			sender := &http.Client{Timeout: time.Second, Transport: &http.Transport{DialContext: n.dial}}
			req := signedRequest(eventBody(event + 1))
			req.RequestURI, req.URL.Scheme, req.URL.Host = "", "http", "127.0.0.1"
			answer, err := sender.Do(req)
			if err != nil {
				t.Fatalf("event %d: %v", event+1, err)
			}
			_ = answer.Body.Close()
			sender.CloseIdleConnections()
		}
		_ = server.Close()
		<-served
	})
}

// delivered is a signed delivery as it goes over the wire.
func delivered(body []byte) string {
	return fmt.Sprintf("POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nX-Svc-Signature: %s\r\n\r\n%s", len(body), sign(testSecret, body), body)
}

// Anyone can send a wrong signature, or what was captured once more.
func TestOnlyANewEventOrATokenMakesAConnectionKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		r := newTestRelay(t, newMemory(t), nil)
		g := newConnectionLimiter(n, 10, func() {})
		server := &http.Server{Handler: r.Handler(), ConnContext: withConnection}
		served := make(chan error, 1)
		go func() { served <- server.Serve(g) }()
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
		_ = server.Close()
		<-served
	})
}

// Whoever has one signed delivery can send it again over any number of connections.
func TestOneDeliveryOverAllConnectionsKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 50
		n := newNetwork()
		r := newTestRelay(t, newMemory(t), nil)
		server := &http.Server{Handler: r.Handler(), ConnContext: withConnection}
		served := make(chan error, 1)
		go func() { served <- server.Serve(newConnectionLimiter(n, places, r.metrics.evicted.Inc)) }()
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		for range 2 * places {
			c, err := n.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			go func() {
				_, _ = io.WriteString(c, delivered(eventBody(1)))
				_, _ = io.Copy(io.Discard, c)
			}()
			synctest.Wait()
		}
		p.next(frameEvents)
		sender := &http.Client{Timeout: time.Second, Transport: &http.Transport{DialContext: n.dial}}
		req := signedRequest(eventBody(2))
		req.RequestURI, req.URL.Scheme, req.URL.Host = "", "http", "127.0.0.1"
		answer, err := sender.Do(req)
		if err != nil {
			t.Fatalf("the sender is kept out: %v", err)
		}
		_ = answer.Body.Close()
		if item := p.next(frameEvents).Items[0]; item.Seq != 2 {
			t.Errorf("a stream that was there before has event %d, want 2", item.Seq)
		}
		sender.CloseIdleConnections()
		_ = server.Close()
		<-served
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
