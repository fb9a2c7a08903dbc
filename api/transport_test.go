package api

import (
	"bufio"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
)

// overNetwork makes a client of a server on a real connection, for what net/http
// does there.
func overNetwork(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := New(Config{BaseURL: server.URL, Key: NewSecret(testKey)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// A service may close an idle connection just as a request is written to it. Then nobody knows whether it was read, and
// money would be in doubt for nothing.
func TestAConfirmMeetsNoConnectionThatTheServiceCloses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer listener.Close()
	serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { // answers once, and closes as soon as more arrives
				defer connection.Close()
				lines := bufio.NewReader(connection)
				if r, err := http.ReadRequest(lines); err == nil {
					io.Copy(io.Discard, r.Body)
					io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n"+`{"id":"ci_1","state":"placing_order","a":"bc"}`)
				}
				lines.ReadByte()
			})
		}
	})
	client, err := New(Config{BaseURL: "http://" + listener.Addr().String(), Key: NewSecret(testKey)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 3 {
		if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
			t.Fatal(err)
		}
		if in, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{}); err != nil || in.State != PlacingOrder {
			t.Errorf("it is %q: %v", in.State, err)
		}
		client.Close() // the next read, too, meets no connection that is closed
	}
}

func TestAConfirmOnABrokenConnectionIsNotSentAgain(t *testing.T) {
	var confirms atomic.Int32
	client := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"id":"ci_1"}`)
			return
		}
		same(t, "has an idempotency key", len(r.Header.Get("Idempotency-Key")), 36)
		confirms.Add(1)
		io.Copy(io.Discard, r.Body)
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		connection.Close()
	})
	if _, err := client.Intent(t.Context(), "ci_1"); err != nil { // leaves a connection to reuse
		t.Fatal(err)
	}
	_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	same(t, "confirms", confirms.Load(), 1)
	same(t, "unknown outcome", IsUnknownOutcome(err), true)
	var transport *TransportError
	same(t, "a transport error", errors.As(err, &transport), true)
}

// breaking makes a server that counts requests and answers none: over HTTP/2 it resets
// their streams, over HTTP/1.1 it breaks the connection.
func breaking(t *testing.T) (server *httptest.Server, requests *atomic.Int32) {
	t.Helper()
	requests = &atomic.Int32{}
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		panic(http.ErrAbortHandler)
	}))
	server.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	server.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, connection *tls.Conn, _ http.Handler) {
			io.CopyN(io.Discard, connection, int64(len(http2.ClientPreface)))
			framer := http2.NewFramer(connection, connection)
			framer.WriteSettings()
			for frame, err := framer.ReadFrame(); err == nil; frame, err = framer.ReadFrame() {
				if header := frame.Header(); header.Flags.Has(http2.FlagDataEndStream) && header.StreamID > 0 {
					requests.Add(1)
					framer.WriteRSTStream(header.StreamID, http2.ErrCodeProtocol)
				}
			}
		},
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, requests
}

func TestWhatIsResetIsNotSentAgain(t *testing.T) {
	for name, send := range map[string]func(*Client) error{
		"a read": func(c *Client) error {
			_, err := c.Intent(t.Context(), "ci_1")
			return err
		},
		"a confirm": func(c *Client) error {
			_, err := c.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, requests := breaking(t)
			transport := TransportTo("127.0.0.1")
			transport.TLSClientConfig = &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
			client, err := New(Config{BaseURL: server.URL, Key: NewSecret(testKey), Transport: transport, Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			err = send(client)
			same(t, "requests", requests.Load(), 1)
			same(t, "unknown outcome", IsUnknownOutcome(err), true)
		})
	}
}

func TestAConfirmThatNeverLeftIsNoUnknownOutcome(t *testing.T) {
	client, err := New(Config{BaseURL: "http://127.0.0.1:1", Key: NewSecret(testKey), Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	if err == nil || IsUnknownOutcome(err) || !strings.Contains(err.Error(), "not sent") {
		t.Errorf("got %v (unknown outcome %t)", err, IsUnknownOutcome(err))
	}
	if strings.Contains(err.Error(), "http://") {
		t.Errorf("the error quotes the URL: %v", err)
	}
}

func TestAnAnswerThatBreaksOffIsAnUnknownOutcome(t *testing.T) {
	client := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, `{"id":"ci_1",`)
	})
	_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	same(t, "unknown outcome", IsUnknownOutcome(err), true)
	same(t, "cut off", errors.Is(err, io.ErrUnexpectedEOF), true)
}

func TestCompressedAnswersAreReadAndConnectionsReused(t *testing.T) {
	peers := map[string]bool{}
	client := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		same(t, "asks for gzip", r.Header.Get("Accept-Encoding"), "gzip")
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		defer compressed.Close()
		io.WriteString(compressed, `{"id":"ci_1","state":"completed"}`)
	})
	for range 3 {
		intent, err := client.Intent(t.Context(), "ci_1")
		if err != nil || intent.State != Completed {
			t.Fatalf("got %v, %v", intent, err)
		}
	}
	same(t, "connections", len(peers), 1)
}

func TestACompressedBombIsRefused(t *testing.T) {
	client := overNetwork(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		defer compressed.Close()
		block := make([]byte, 1<<20)
		for range maxBody>>20 + 1 {
			compressed.Write(block)
		}
	})
	_, err := client.Intent(t.Context(), "ci_1")
	same(t, "too large", errors.Is(err, errTooLarge), true)
}

func TestConcurrentCallsShareAClient(t *testing.T) {
	client := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"id":%q}`, path.Base(r.URL.Path))
	})
	var group sync.WaitGroup
	for n := range 16 {
		group.Go(func() {
			id := ID(fmt.Sprintf("ci_%d", n))
			intent, err := client.Intent(t.Context(), id)
			if err != nil || intent.ID != id {
				t.Errorf("asked for %s, got %v, %v", id, intent, err)
			}
			if err := drain(client.Events(t.Context())); err == nil {
				t.Error("an object was taken for a list")
			}
		})
	}
	group.Wait()
}

func TestAnUntrustedCertificateMeansThatNothingWasSent(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	client, err := New(Config{BaseURL: server.URL, Key: NewSecret(testKey)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
	if err == nil || IsUnknownOutcome(err) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v (unknown outcome %t)", err, IsUnknownOutcome(err))
	}
}
