package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// network is a listener on connections in memory, which work inside a bubble of
// synctest.
type network struct {
	accepted chan net.Conn
	once     sync.Once
	closed   chan struct{}
}

func newNetwork() *network {
	return &network{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accepted:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case n.accepted <- there:
		return here, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serveOn serves h on a network of its own until stop is called.
func serveOn(t testing.TB, h http.Handler) (n *network, stop func()) {
	n = newNetwork()
	server := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- server.Serve(n) }()
	stop = sync.OnceFunc(func() {
		_ = server.Close()
		<-served
	})
	t.Cleanup(stop)
	return n, stop
}

// serveRelay serves r until the test ends.
func serveRelay(t testing.TB, r *Relay) *network {
	n, stop := serveOn(t, r.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		stop()
		if err := r.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return n
}

// frame is any frame from the relay.
type frame struct {
	T         string     `json:"t"`
	Epoch     string     `json:"epoch"`
	Head      int64      `json:"head"`
	Oldest    int64      `json:"oldest"`
	Resume    string     `json:"resume"`
	Lost      span       `json:"lost"`
	Heartbeat float64    `json:"hb"`
	Start     int64      `json:"start"`
	Now       time.Time  `json:"now"`
	Since     time.Time  `json:"obs_since"`
	Items     []wireItem `json:"items"`
	Cursor    string     `json:"cursor"`
	Last      string     `json:"last"`
	From      int64      `json:"from"`
	To        int64      `json:"to"`
	Reason    string     `json:"reason"`
	RetryMS   []int64    `json:"retry_ms"`

	observations observationsFrame
}

func readFrame(text []byte) (f frame, err error) {
	if bytes.HasPrefix(text, []byte(`{"t":"obs"`)) {
		f.T = frameObservations
		return f, json.Unmarshal(text, &f.observations)
	}
	return f, json.Unmarshal(text, &f)
}

// peer is a subscriber of the bare protocol.
type peer struct {
	t      testing.TB
	socket *websocket.Conn
}

// connect opens a stream and sends hello, unless it is nil.
func connect(t testing.TB, n *network, hello any) *peer {
	t.Helper()
	dialer := websocket.Dialer{NetDialContext: n.dial, Subprotocols: []string{Protocol}, ReadBufferSize: frameBytes}
	socket, _, err := dialer.Dial("ws://127.0.0.1"+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	p := &peer{t, socket}
	if hello != nil {
		p.send(hello)
	}
	return p
}

func (p *peer) send(value any) {
	p.t.Helper()
	text, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(value)
		if err != nil {
			p.t.Fatal(err)
		}
		text = string(encoded)
	}
	if err := p.socket.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// frame reads a frame of any kind.
func (p *peer) frame() frame {
	p.t.Helper()
	_, text, err := p.socket.ReadMessage()
	if err != nil {
		p.t.Fatal(err)
	}
	if len(text) > 2*frameBytes {
		p.t.Errorf("a frame has %d bytes", len(text))
	}
	f, err := readFrame(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// next reads a frame and expects it to be of kind.
func (p *peer) next(kind string) frame {
	p.t.Helper()
	f := p.frame()
	if f.T == frameHeartbeat && kind != frameHeartbeat {
		return p.next(kind) // one may come at any time
	}
	if f.T != kind {
		p.t.Fatalf("a frame %+v, want %s", f, kind)
	}
	return f
}

// replay reads up to the frame that says live, and returns the numbers of the
// events before it.
func (p *peer) replay() (seqs []int64, live frame) {
	p.t.Helper()
	for {
		f := p.frame()
		for _, item := range f.Items {
			seqs = append(seqs, item.Seq)
		}
		if f.T == frameLive {
			return seqs, f
		}
	}
}

// closed reads until the connection ends and returns why.
func (p *peer) closed() error {
	for {
		if _, _, err := p.socket.ReadMessage(); err != nil {
			return err
		}
	}
}

func helloAt(position string) helloFrame { return helloFrame{T: frameHello, Cursor: &position} }
