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

// connection is one subscriber. It holds a cursor and no queue: its serving goroutine reads what follows the cursor
// and writes it. A second goroutine reads what the subscriber sends.
type connection struct {
	hub        *hub
	tail       *tail
	socket     *websocket.Conn
	heartbeat  time.Duration
	admitted   func() bool   // reports whether its token is still valid
	hello      chan []byte   // the first frame
	gone       chan struct{} // closed when the socket can no longer be read
	why        error         // why, once gone is closed
	woken      chan struct{} // there may be something to do besides sending events
	unadmitted atomic.Bool   // its token was found to be no longer valid
	seq        atomic.Int64  // of the cursor; -1 until the stream begins
	beats      atomic.Bool   // a heartbeat is due

	// Used by the serving goroutine:
	client string
	filter filter
	at     cursor
	live   bool

	observing bool  // the subscriber wants observations
	observed  int64 // up to this position they were sent
	backlog   int64 // the position when the connection began: observations up to it come before live

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
		if c.unadmitted.Load() {
			reason = errors.New("refused: " + tokenEnded)
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
	defer c.wake()
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

// wake has a waiting connection look for work other than events.
func (c *connection) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// push sends what follows the cursor until ctx ends. The first heartbeat is early by a random time, so that many
// connections do not beat together. An event wakes up to a thousand connections, so each waits for two channels only,
// and none is shared with the others for long.
func (c *connection) push(ctx context.Context) error {
	beat := time.AfterFunc(rand.N(c.heartbeat)+1, func() {
		c.beats.Store(true)
		c.wake()
	})
	defer beat.Stop()
	c.wake() // a shutdown that began before the hub held this connection did not wake it
	for {
		changed, err := c.sendEvents(ctx)
		if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-c.woken:
			if err := c.sendOthers(ctx, beat); err != nil {
				return err
			}
		}
	}
}

// sendOthers sends what is due besides events.
func (c *connection) sendOthers(ctx context.Context, beat *time.Timer) error {
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

// sendEvents sends some of what follows the cursor. It returns a channel that is closed when there is more.
func (c *connection) sendEvents(ctx context.Context) (changed <-chan struct{}, err error) {
	news, err := c.tail.after(c.at.seq)
	if err == nil && news.upTo > 0 {
		news.events, err = readEvents(ctx, c.hub.journal, c.at, news.upTo)
	}
	switch {
	case errors.Is(err, errAnother):
		return nil, c.byeBecause("reset", err)
	case err != nil:
		return nil, c.byeBecause("journal", err)
	case len(news.events) > 0:
		return c.hub.now, c.sendAll(news.events)
	case c.live || news.pending:
		return news.changed, nil
	case c.observing && c.observed < c.backlog:
		if sent, err := c.sendObservations(); sent || err != nil {
			return c.hub.now, err
		}
	}
	c.live = true
	return news.changed, c.send(liveFrame{T: frameLive, Cursor: c.at.position(), Last: c.at.last})
}

var (
	eventsPrefix = []byte(`{"t":"` + frameEvents + `","items":[`)
	eventsSuffix = []byte(`]}`)
)

// sendAll sends the events that pass the filter, in as many frames as needed, and moves the cursor past each.
func (c *connection) sendAll(events []encoded) error {
	buffer := c.hub.buffers.Get().(*bytes.Buffer)
	defer c.hub.buffers.Put(buffer)
	for len(events) > 0 {
		taken, filtered, err := 1, 0, error(nil)
		if gap := events[0]; gap.gap {
			err = c.send(gapFrame{frameGap, span{max(gap.from, c.at.seq+1), gap.seq}})
		} else if taken, filtered = frameOf(buffer, events, c.filter); filtered < taken {
			err = c.write(buffer.Bytes())
		}
		if err != nil {
			return err
		}
		c.moveTo(c.at.after(events[taken-1].seq, events[taken-1].id))
		events = events[taken:]
	}
	return nil
}

func (c *connection) moveTo(at cursor) {
	c.at = at
	c.seq.Store(at.seq)
}

// frameOf writes a frame of the first events that pass types into buffer, up to a gap: as many as fit, but at least
// one. It returns how many events it has consumed and how many of them were filtered out; if all were, there is no
// frame to send.
func frameOf(buffer *bytes.Buffer, events []encoded, types filter) (taken, filtered int) {
	buffer.Reset()
	buffer.Write(eventsPrefix)
	for _, event := range events {
		full := buffer.Len()+len(",")+len(event.text)+len(eventsSuffix) > frameBytes && taken > filtered
		if full || event.gap {
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

// beat sends a heartbeat and a ping while the token is valid. Filtered events move the cursor in it, too.
func (c *connection) beat(ctx context.Context) error {
	if !c.admitted() {
		return c.refuse(closeUnauthorized, tokenEnded)
	}
	head, err := c.hub.journal.Head(ctx)
	if err != nil {
		return c.byeBecause("journal", err)
	}
	err = c.send(heartbeatFrame{
		T: frameHeartbeat, Head: head, Cursor: c.at.position(), Last: c.at.last, Now: time.Now().UTC(),
	})
	if err != nil {
		return err
	}
	return unsent(c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout)))
}

func (c *connection) send(frame any) error {
	text, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return c.write(text)
}

// write sends a frame. A subscriber that takes nothing for writeTimeout is disconnected.
func (c *connection) write(text []byte) error {
	if err := c.socket.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
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

// byeBecause says bye, and returns why in one line for the log.
func (c *connection) byeBecause(reason string, why error) error {
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
