package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

const (
	dialTimeout    = 10 * time.Second
	welcomeTimeout = 10 * time.Second
	// maxFrame bounds a frame from the relay: the largest body in Base64 plus the other members.
	maxFrame     = 8 << 20
	readAhead    = 4 // frames decoded while the handler works
	silentBeats  = 2 // heartbeats with a head ahead but no events
	maxRetryWait = time.Minute
)

var (
	errWoken  = errors.New("this machine was asleep")
	errSilent = errors.New("the relay has new events and sends none")
)

// RefusedError says that the relay does not let this client do what it asked for. It ends a subscription for good.
type RefusedError struct {
	Status int // 401 or 403, or the close code of the stream
	reason string
}

// Error says what the relay refuses and what to do.
func (e *RefusedError) Error() string { return e.reason }

// byeError is the relay's bye, with the time to reconnect.
type byeError struct {
	reason           api.Text
	earliest, latest time.Duration
}

func (e *byeError) Error() string { return fmt.Sprintf("the relay said bye: %s", e.reason) }

// session follows the stream over one connection, and returns why it ended.
func (s *Subscriber) session(ctx context.Context, h Handler, woken <-chan struct{}) error {
	select { // this session itself answers an earlier waking
	case <-woken:
	default:
	}
	awake, cancel := context.WithCancelCause(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel(nil)
	tasks.Go(func() {
		select {
		case <-woken:
			cancel(errWoken) // what is waited for then may never come
		case <-awake.Done():
		}
	})
	socket, err := s.dial(awake)
	if err != nil {
		return cmp.Or(context.Cause(awake), err)
	}
	link := &link{socket: socket, frames: make(chan received, readAhead), ended: make(chan struct{})}
	link.tasks.Go(link.read)
	defer link.close()
	f := &following{subscriber: s, handler: h}
	f.observer, _ = h.(Observer)
	if err := s.sayHello(socket, f.observer != nil); err != nil {
		return err
	}
	for {
		select {
		case <-awake.Done():
			return context.Cause(awake)
		case r := <-link.frames:
			if r.err != nil {
				return r.err
			}
			if err := f.take(ctx, r.frame); err != nil {
				return err
			}
		}
	}
}

// dial opens the websocket. A token that is not accepted is final.
func (s *Subscriber) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	leave := func() bool { return true } // whether the handshake ended before ctx did
	dialer := websocket.Dialer{
		NetDialContext: func(dialling context.Context, network, address string) (net.Conn, error) {
			c, err := s.config.Dial(dialling, network, address)
			if err == nil { // the library does not leave a handshake that stalls
				leave = context.AfterFunc(ctx, func() { _ = c.Close() })
			}
			return c, err
		},
		Proxy:            api.ProxyTo(s.location.Hostname()),
		HandshakeTimeout: dialTimeout,
		ReadBufferSize:   16 << 10,
		WriteBufferSize:  1024,
		Subprotocols:     []string{Protocol},
	}
	header := http.Header{"Authorization": {"Bearer " + s.config.Token.Reveal()}}
	socket, answer, err := dialer.DialContext(ctx, s.location.String(), header)
	left := leave()
	switch {
	case err == nil && !left:
		return nil, fmt.Errorf("connect to the relay: %w", ctx.Err())
	case err == nil:
		return socket, nil
	case answer == nil:
		return nil, fmt.Errorf("connect to the relay: %w", api.Proxied(s.location.String(), err))
	case answer.StatusCode == http.StatusUnauthorized:
		return nil, &RefusedError{answer.StatusCode, "the relay does not accept the token (401): set the one that it was started with"}
	case answer.StatusCode == http.StatusForbidden:
		return nil, &RefusedError{answer.StatusCode, "the relay forbids this token to read the stream (403): use one that may"}
	}
	return nil, fmt.Errorf("connect to the relay: it answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
}

func (s *Subscriber) sayHello(socket *websocket.Conn, observing bool) error {
	hello := helloFrame{T: frameHello, From: s.config.From, Since: s.config.Since, Types: s.config.Types, Client: s.config.Client}
	if at, err := parseCursor(s.Cursor()); err == nil {
		hello.Cursor, hello.Last = new(at.position()), at.last
	}
	if s.config.Here {
		hello.Now = time.Now().UTC()
	}
	if !observing {
		hello.Observed = noObservations
	}
	text, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if err := socket.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if err := socket.WriteMessage(websocket.TextMessage, text); err != nil {
		return fmt.Errorf("greet the relay: %w", err)
	}
	return nil
}

// received is a frame, or why there are no more.
type received struct {
	frame frame
	err   error
}

// link reads and decodes the frames of one connection ahead of the handler.
type link struct {
	socket *websocket.Conn
	frames chan received
	ended  chan struct{}
	tasks  sync.WaitGroup
}

func (l *link) close() {
	close(l.ended)
	_ = l.socket.Close()
	l.tasks.Wait()
}

// read ends with an error, which it passes on like a frame. A relay that sends
// neither frame nor ping for 1.4 heartbeats is taken for dead.
func (l *link) read() {
	patience := welcomeTimeout
	alive := func() error { return l.socket.SetReadDeadline(time.Now().Add(patience)) }
	l.socket.SetReadLimit(maxFrame)
	l.socket.SetPingHandler(func(data string) error {
		if err := alive(); err != nil {
			return err
		}
		// A pong that cannot be sent shows in the next read.
		_ = l.socket.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTimeout))
		return nil
	})
	for {
		r := l.next(alive)
		if r.frame.T == frameWelcome {
			patience = heartbeatOf(r.frame) * 7 / 5
		}
		select {
		case l.frames <- r:
		case <-l.ended:
			return
		}
		if r.err != nil {
			return
		}
	}
}

func (l *link) next(alive func() error) (r received) {
	defer journal.Recovered(&r.err)
	if err := alive(); err != nil {
		return received{err: err}
	}
	_, text, err := l.socket.ReadMessage()
	if err != nil {
		return received{err: readError(err)}
	}
	if r.frame, err = readFrame(text); err != nil {
		return received{err: err}
	}
	return r
}

// readFrame decodes a frame with its events. Of an unknown kind it decodes only the kind: its members may mean
// something else.
func readFrame(text []byte) (f frame, err error) {
	f.T = gjson.GetBytes(text, "t").Str
	switch f.T {
	case frameWelcome, frameEvents, frameGap, frameLive, frameHeartbeat, frameBye:
		err = json.Unmarshal(text, &f)
	case frameObservations:
		err = json.Unmarshal(text, &f.observations)
	case frameWrong:
		err = json.Unmarshal(text, &f.wrong)
		f.wrong.Text = string(api.Scrub(f.wrong.Text))
	default:
		if !json.Valid(text) {
			err = errors.New("it is not JSON")
		}
	}
	if err != nil {
		return frame{}, fmt.Errorf("the relay sent a frame that cannot be read: %w", err)
	}
	for _, wire := range f.Items {
		f.events = append(f.events, itemFrom(wire))
	}
	return f, nil
}

// heartbeatOf returns the heartbeat of a welcome, within bounds.
func heartbeatOf(f frame) time.Duration {
	if f.Heartbeat < 0.01 || f.Heartbeat > 600 {
		return defaultHeartbeat
	}
	return time.Duration(f.Heartbeat * float64(time.Second))
}

// readError separates a final close from one worth another attempt.
func readError(err error) error {
	var closed *websocket.CloseError
	if !errors.As(err, &closed) {
		return fmt.Errorf("read the stream: %w", err)
	}
	if closed.Code >= 4500 && closed.Code < 4600 {
		return &RefusedError{closed.Code, fmt.Sprintf("the relay refuses this client (%d): %s", closed.Code, api.Scrub(closed.Text))}
	}
	return fmt.Errorf("the relay closed the stream (%d)", closed.Code)
}
