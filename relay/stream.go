package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	helloTimeout = 5 * time.Second
	pongTimeout  = 10 * time.Second
	writeTimeout = 10 * time.Second
	byeTimeout   = time.Second

	maxHello      = 64 << 10 // bytes of a subscriber's frame
	maxClientName = 80
)

// newUpgrader accepts websockets of the stream's protocol; from browsers only if the page is of the relay's own
// host.
func newUpgrader() *websocket.Upgrader {
	return &websocket.Upgrader{
		HandshakeTimeout: helloTimeout,
		ReadBufferSize:   1024,
		WriteBufferSize:  4096,
		WriteBufferPool:  &sync.Pool{},
		Subprotocols:     []string{Protocol},
	}
}

// stream serves one subscriber until it leaves, stalls or the relay shuts down.
func (r *Relay) stream(w http.ResponseWriter, req *http.Request) {
	if err := r.hub.reserve(req.Context()); err != nil {
		w.Header().Set("Retry-After", retrySeconds)
		w.Header().Set("Connection", "close")
		answer(w, http.StatusServiceUnavailable, `{"message":"no stream can be opened now: try again"}`+"\n")
		r.logger.Warn("stream refused", slog.String("error", err.Error()))
		return
	}
	defer r.hub.release()
	socket, err := r.upgrader.Upgrade(w, req, nil)
	if err != nil {
		return // the upgrader has answered
	}
	token, _ := bearer(req)
	c := r.connection(socket, func() bool { return r.admits(token, ScopeStream) })
	c.ring = r.hub.enter(c)
	defer r.hub.leave(c)
	reason := c.serve()
	level := slog.LevelInfo
	if errors.Is(reason, errStalled) || errors.Is(reason, errOusted) || errors.Is(reason, errNoPong) {
		level = slog.LevelWarn
	}
	r.logger.Log(req.Context(), level, "stream ended", slog.String("client", c.client), slog.String("reason", reason.Error()))
}

// connection makes a connection of an upgraded socket. The hub does not hold it yet.
func (r *Relay) connection(socket *websocket.Conn, admitted func() bool) *connection {
	return &connection{
		hub:       r.hub,
		journal:   r.journal,
		socket:    socket,
		heartbeat: r.heartbeat,
		admitted:  admitted,
		hello:     make(chan []byte, 1),
		gone:      make(chan struct{}),
		roused:    make(chan struct{}, 1),
	}
}

// greet reads the hello and answers it. The error says why the connection ends.
func (c *connection) greet(ctx context.Context) error {
	if c.socket.Subprotocol() != Protocol {
		return c.refuse(closeBadVersion, "the subprotocol "+Protocol+" is required")
	}
	select {
	case text := <-c.hello:
		return c.welcome(ctx, text)
	case <-c.gone:
		return c.why
	case <-c.hub.closing:
		return c.bye("shutdown")
	case <-time.After(helloTimeout):
		return c.refuse(closeHelloLate, "no hello within "+helloTimeout.String())
	}
}

func (c *connection) welcome(ctx context.Context, text []byte) error {
	hello, types, err := readHello(text)
	if err != nil {
		return c.refuse(closeBadHello, err.Error())
	}
	c.filter = types
	c.client = hello.Client
	c.observed, c.observing = observedBy(hello.Observed, time.Now())
	c.backlog = c.hub.observing.log.head()
	welcome, start, err := c.resume(ctx, hello)
	if err != nil {
		return c.part("journal", err)
	}
	if c.observing {
		welcome.ObservedSince = c.hub.observing.log.wholeSince(time.Now()).UTC()
	}
	c.epoch = welcome.Epoch
	c.cursor.Store(start)
	c.begun.Store(true)
	if err := c.send(welcome); err != nil {
		return err
	}
	return c.sendWrongSignatures()
}

// readHello checks a hello and returns its filter.
func readHello(text []byte) (helloFrame, filter, error) {
	var hello helloFrame
	if err := json.Unmarshal(text, &hello); err != nil {
		if json.Valid(text) {
			return hello, nil, errors.New("the hello has a member of another type than the protocol says")
		}
		return hello, nil, errors.New("the hello is not valid JSON")
	}
	if hello.T != frameHello {
		return hello, nil, fmt.Errorf("the first frame is %.20q, not a hello", hello.T)
	}
	if hello.From != "" && hello.From != FromEarliest && hello.From != FromLatest {
		return hello, nil, fmt.Errorf("from is %.20q, not earliest or latest", hello.From)
	}
	hello.Client = shortText(hello.Client, maxClientName)
	types, err := newFilter(hello.Types)
	return hello, types, err
}

// observedBy reads up to which position a subscriber has the observations, and whether it wants more. A position
// that is unreadable, or in the future because a clock was set back, counts as none.
func observedBy(hello string, now time.Time) (at int64, wanted bool) {
	at, err := strconv.ParseInt(hello, 10, 64)
	if err != nil || at > position(now.Add(time.Minute)) {
		at = 0
	}
	return at, hello != noObservations
}

// resume decides after which sequence number the stream starts.
func (c *connection) resume(ctx context.Context, hello helloFrame) (welcomeFrame, int64, error) {
	oldest, err := c.journal.Oldest(ctx)
	if err != nil {
		return welcomeFrame{}, 0, err
	}
	head, err := c.journal.Head(ctx)
	if err != nil {
		return welcomeFrame{}, 0, err
	}
	w := welcomeFrame{
		T: frameWelcome, Epoch: c.journal.Epoch(), Head: head, Oldest: oldest,
		Heartbeat: c.heartbeat.Seconds(), Now: time.Now().UTC(),
	}
	if hello.Cursor == nil {
		w.Resume = ResumeFresh
		if !hello.Since.IsZero() {
			if !hello.Now.IsZero() {
				hello.Since = hello.Since.Add(w.Now.Sub(hello.Now))
			}
			w.Start, err = before(ctx, c.journal, hello.Since, oldest, head)
			return w, w.Start, err
		}
		if hello.From == FromLatest {
			return w, head, nil
		}
		return w, oldest - 1, nil
	}
	at, err := parseCursor(*hello.Cursor)
	switch {
	case err != nil, at.epoch != w.Epoch, at.seq > head:
		w.Resume = ResumeReset
		return w, oldest - 1, nil
	case at.seq+1 < oldest:
		w.Resume, w.Lost = ResumeGap, &span{at.seq + 1, oldest - 1}
		return w, oldest - 1, nil
	}
	w.Resume = ResumeOK
	return w, at.seq, nil
}
