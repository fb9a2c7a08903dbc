package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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
	if err := r.hub.reserve(); err != nil {
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusServiceUnavailable, "no stream can be opened now: try again")
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
	c.tail = r.hub.add(c)
	defer r.hub.remove(c)
	reason := c.serve()
	level := slog.LevelInfo
	if errors.Is(reason, errStalled) || errors.Is(reason, errNoPong) {
		level = slog.LevelWarn
	}
	r.logger.Log(req.Context(), level, "stream ended",
		slog.String("client", c.client), slog.String("reason", reason.Error()))
}

// connection makes a connection of an upgraded socket. The hub does not hold it yet.
func (r *Relay) connection(socket *websocket.Conn, admitted func() bool) *connection {
	c := &connection{
		hub:       r.hub,
		socket:    socket,
		heartbeat: r.heartbeat,
		admitted:  admitted,
		hello:     make(chan []byte, 1),
		gone:      make(chan struct{}),
		woken:     make(chan struct{}, 1),
	}
	c.seq.Store(-1)
	return c
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
	c.observing = hello.Observed != noObservations
	c.hub.observations.add(nil, time.Now()) // lets the oldest go
	_, c.backlog = c.hub.observations.count()
	welcome, at, err := c.resume(ctx, hello)
	if err != nil {
		return c.byeBecause("journal", err)
	}
	if c.observing {
		welcome.ObservedSince = c.hub.observations.wholeSince(time.Now())
	}
	c.moveTo(at)
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

// resume decides after which event the stream starts.
func (c *connection) resume(ctx context.Context, hello helloFrame) (welcomeFrame, cursor, error) {
	j := c.hub.journal
	oldest, err := j.Oldest(ctx)
	if err != nil {
		return welcomeFrame{}, cursor{}, err
	}
	head, err := j.Head(ctx)
	if err != nil {
		return welcomeFrame{}, cursor{}, err
	}
	w := welcomeFrame{
		T: frameWelcome, Epoch: j.Epoch(), Head: head, Oldest: oldest, Resume: ResumeFresh,
		Heartbeat: c.heartbeat.Seconds(), Now: time.Now().UTC(),
	}
	start := cursor{epoch: w.Epoch, seq: oldest - 1}
	if hello.Cursor == nil {
		switch {
		case !hello.Since.IsZero():
			if !hello.Now.IsZero() {
				hello.Since = hello.Since.Add(w.Now.Sub(hello.Now))
			}
			w.Start, err = before(ctx, j, hello.Since, oldest, head)
			start.seq = w.Start
		case hello.From == FromLatest:
			start.seq = head
		}
		return w, start, err
	}
	at, err := parseCursor(*hello.Cursor)
	if err != nil || at.epoch != w.Epoch {
		w.Resume = ResumeReset
		return w, start, nil
	}
	at.last = cmp.Or(lastOf(hello.Last), at.last)
	switch _, err := readOn(ctx, j, at, 1); {
	case errors.Is(err, errAnother):
		w.Resume = ResumeReset
		return w, start, nil
	case err != nil:
		return welcomeFrame{}, cursor{}, err
	case at.seq+1 < oldest:
		w.Resume, w.Lost = ResumeGap, &span{at.seq + 1, oldest - 1}
		return w, start, nil
	}
	w.Resume = ResumeOK
	return w, at, nil
}
