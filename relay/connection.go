package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"tillwatch/relay/journal"
)

const (
	frameBytes = 64 << 10 // bytes of a frame of events, unless one event is larger

	tokenEnded = "the token was revoked or has expired"
)

var (
	errGone    = errors.New("the subscriber left")
	errNoPong  = errors.New("stalled: it answered no ping for " + pongTimeout.String())
	errStalled = errors.New("stalled: it took nothing for " + writeTimeout.String())
)

// connection is one subscriber. It holds a cursor and no queue: its serving goroutine reads what follows the
// cursor and writes it. A second goroutine reads what the subscriber sends.
type connection struct {
	hub       *hub
	ring      *ring
	journal   journal.Journal
	socket    *websocket.Conn
	heartbeat time.Duration
	admitted  func() bool   // reports whether its token is still valid
	hello     chan []byte   // the first frame
	gone      chan struct{} // closed when the socket can no longer be read
	why       error         // why, once gone is closed
	roused    chan struct{} // there is something to do besides sending events
	expelled  atomic.Bool   // its token was found to be no longer valid

	// Used by the serving goroutine; others may read the atomic ones:
	client string
	filter filter
	epoch  string
	cursor atomic.Int64
	begun  atomic.Bool // the cursor is set
	beats  atomic.Bool // a heartbeat is due
	live   bool

	observing bool  // the subscriber wants observations
	observed  int64 // it has all observations up to this position
	backlog   int64 // the newest position when the connection began: observations up to it come before live

	wrong WrongSignatures // as last sent
}

// serve serves the connection, and returns why it ended, after its goroutines have.
func (c *connection) serve() (reason error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			reason = fmt.Errorf("panic: %v", panicked)
		}
		_ = c.socket.Close()
		<-c.gone
		switch {
		case c.expelled.Load():
			reason = errors.New("refused: " + tokenEnded)
		case errors.Is(reason, context.Canceled): // what was under way ended with the subscriber
			reason = c.why
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		c.listen()
	}()
	if err := c.greet(ctx); err != nil {
		return err
	}
	return c.push(ctx)
}

// listen reads until the subscriber is gone, or silent for longer than a heartbeat plus the time for a pong.
func (c *connection) listen() {
	defer c.rouse()
	defer close(c.gone)
	defer func() { _ = recover() }() // gorilla panics on repeated reads of a dead connection
	c.why = errGone
	c.socket.SetReadLimit(maxHello)
	alive := func() error { return c.socket.SetReadDeadline(time.Now().Add(c.heartbeat + pongTimeout)) }
	c.socket.SetPongHandler(func(string) error { return alive() })
	for first := true; alive() == nil; first = false {
		_, text, err := c.socket.ReadMessage()
		if err != nil {
			if isTimeout(err) {
				c.why = errNoPong
			}
			return
		}
		if first {
			c.hello <- text
		}
	}
}

// rouse has a waiting connection check for work other than events.
func (c *connection) rouse() {
	select {
	case c.roused <- struct{}{}:
	default:
	}
}

// push sends what follows the cursor until ctx ends. The first heartbeat is early by a random time, so that many
// connections do not beat together. An event wakes up to a thousand connections, so each waits for two channels
// only and none is a timer.
func (c *connection) push(ctx context.Context) error {
	beat := time.AfterFunc(rand.N(c.heartbeat)+1, func() {
		c.beats.Store(true)
		c.rouse()
	})
	defer beat.Stop()
	c.rouse() // a shutdown that began before the hub held this connection did not rouse it
	for {
		next, err := c.advance(ctx)
		if err != nil {
			return err
		}
		if next == nil {
			select {
			case <-c.roused:
			default:
				continue
			}
		} else {
			select {
			case <-next:
				continue
			case <-c.roused:
			}
		}
		if err := c.attend(ctx, beat); err != nil {
			return err
		}
	}
}

// attend does what the connection was roused for.
func (c *connection) attend(ctx context.Context, beat *time.Timer) error {
	select {
	case <-c.hub.closing:
		return c.bye("shutdown")
	case <-c.gone:
		return c.why
	default:
	}
	if c.beats.Swap(false) {
		beat.Reset(c.heartbeat)
		if err := c.beat(ctx); err != nil {
			return err
		}
	}
	if err := c.sendWrongSignatures(); err != nil {
		return err
	}
	_, err := c.sendObservations()
	return err
}

// sendWrongSignatures sends what has changed about wrong signatures.
func (c *connection) sendWrongSignatures() error {
	now := c.hub.signatures.report()
	if now == c.wrong {
		return nil
	}
	c.wrong = now
	return c.send(wrongFrame{frameWrong, now})
}

// advance sends some events and moves the cursor past them. It returns a channel that is closed when there is more
// to send; nil if there already is.
func (c *connection) advance(ctx context.Context) (next <-chan struct{}, err error) {
	newest, at := c.ring.newest.Load(), c.cursor.Load()
	if newest.epoch != c.epoch {
		return nil, journal.ErrEpoch
	}
	if at >= newest.head { // the journal may be ahead of the ring
		if c.live {
			return newest.next, nil
		}
		if c.observed < c.backlog {
			sent, err := c.sendObservations()
			if sent || err != nil {
				return nil, err
			}
		}
		c.live = true
		return newest.next, c.send(liveFrame{T: frameLive, Cursor: c.position()})
	}
	if shared, is := newest.following(at); is && len(c.filter) == 0 {
		if err := c.writable(); err != nil {
			return nil, err
		}
		if err := c.socket.WritePreparedMessage(shared.message); err != nil {
			return nil, unsent(err)
		}
		c.cursor.Store(shared.last)
		return nil, nil
	}
	return nil, c.catchUp(ctx)
}

var (
	eventsPrefix = []byte(`{"t":"` + frameEvents + `","items":[`)
	eventsSuffix = []byte(`]}`)
)

// sendEvents sends the events that pass the filter, in as many frames as needed, and moves the cursor past each.
func (c *connection) sendEvents(events []encoded) error {
	var buffer bytes.Buffer
	for len(events) > 0 {
		taken, filtered := frameOf(&buffer, events, c.filter)
		if filtered < taken {
			if err := c.write(buffer.Bytes()); err != nil {
				return err
			}
		}
		c.cursor.Store(events[taken-1].seq)
		events = events[taken:]
	}
	return nil
}

// frameOf writes a frame of the first events that pass types into buffer: as many as fit, but at least one. It
// returns how many events it has consumed and how many of them were filtered out; if all were, there is no frame
// to send.
func frameOf(buffer *bytes.Buffer, events []encoded, types filter) (taken, filtered int) {
	buffer.Reset()
	buffer.Write(eventsPrefix)
	for _, event := range events {
		if buffer.Len()+len(",")+len(event.text)+len(eventsSuffix) > frameBytes && taken > filtered {
			break
		}
		taken++
		if !types.matches(event.kind) {
			filtered++
			continue
		}
		if taken > filtered+1 {
			buffer.WriteByte(',')
		}
		buffer.Write(event.text)
	}
	buffer.Write(eventsSuffix)
	return taken, filtered
}

// beat sends a heartbeat and a ping while the token is valid.
func (c *connection) beat(ctx context.Context) error {
	if !c.admitted() {
		return c.refuse(closeUnauthorized, tokenEnded)
	}
	if err := c.sendHeartbeat(ctx); err != nil {
		return err
	}
	return unsent(c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout)))
}

// sendHeartbeat sends the head and the cursor, which filtered events also move.
func (c *connection) sendHeartbeat(ctx context.Context) error {
	head, err := c.journal.Head(ctx)
	if err != nil {
		return c.part("journal", err)
	}
	return c.send(heartbeatFrame{T: frameHeartbeat, Head: head, Cursor: c.position(), Now: time.Now().UTC()})
}

func (c *connection) position() string { return cursor{c.epoch, c.cursor.Load()}.String() }

func (c *connection) send(frame any) error {
	text, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return c.write(text)
}

// writable sets the deadline of the next write: a subscriber that takes nothing for writeTimeout is disconnected.
func (c *connection) writable() error {
	return c.socket.SetWriteDeadline(time.Now().Add(writeTimeout))
}

func (c *connection) write(text []byte) error {
	if err := c.writable(); err != nil {
		return err
	}
	return unsent(c.socket.WriteMessage(websocket.TextMessage, text))
}

// unsent returns the error of a failed write, errStalled if it timed out.
func unsent(err error) error {
	if isTimeout(err) {
		return errStalled
	}
	return err
}

func isTimeout(err error) bool {
	var failed net.Error
	return errors.As(err, &failed) && failed.Timeout()
}

// bye asks the subscriber to reconnect after a pause: the more subscribers, the wider they are spread.
func (c *connection) bye(reason string) error {
	latest := min(1000+int64(c.hub.returning())*9, 10_000)
	text, err := json.Marshal(byeFrame{T: frameBye, Reason: reason, RetryMS: []int64{250, latest}})
	if err == nil {
		_ = c.socket.SetWriteDeadline(time.Now().Add(byeTimeout))
		err = c.socket.WriteMessage(websocket.TextMessage, text)
	}
	if err == nil {
		c.close(websocket.CloseGoingAway, reason)
	}
	return fmt.Errorf("said bye: %s", reason)
}

// part says bye for a reason, and returns why in one line for the log.
func (c *connection) part(reason string, why error) error {
	return fmt.Errorf("%w (%w)", why, c.bye(reason))
}

func (c *connection) refuse(code int, reason string) error {
	c.close(code, reason)
	return fmt.Errorf("refused: %s", reason)
}

// close sends a close frame; the protocol bounds its reason.
func (c *connection) close(code int, reason string) {
	message := websocket.FormatCloseMessage(code, strings.ToValidUTF8(reason[:min(len(reason), 120)], ""))
	_ = c.socket.WriteControl(websocket.CloseMessage, message, time.Now().Add(byeTimeout))
}
