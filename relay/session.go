package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/tidwall/gjson"

	"tillwatch/api"
)

const (
	dialTimeout    = 10 * time.Second
	welcomeTimeout = 10 * time.Second
	silenceTimeout = 40 * time.Second // a relay that sends neither frame nor ping is taken for dead
	maxFrame       = 8 << 20          // bytes from the relay: the largest body in Base64 plus the other members
	readAhead      = 4                // frames read while the handler works
	silentBeats    = 2                // heartbeats with a head ahead but no events
	maxRetryWait   = time.Minute
)

var (
	errWoken     = errors.New("this machine was asleep")
	errSilent    = errors.New("the relay has new events and sends none")
	errNoWelcome = errors.New("the relay did not begin with a welcome")
)

// RefusedError says that the relay does not let this client do what it asked for. It ends a subscription for good.
type RefusedError struct {
	Status int // 401 or 403, or the close code of the stream
	reason string
}

// Error says what the relay refuses and what to do.
func (e *RefusedError) Error() string { return e.reason }

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
	defer socket.Close()
	frames := make(chan []byte, readAhead)
	var ended error // why there are no more frames, once they are closed
	tasks.Go(func() {
		defer close(frames)
		ended = readFrames(awake, socket, frames)
	})
	f := &following{subscriber: s, handler: h}
	f.observer, _ = h.(Observer)
	if err := f.sayHello(socket); err != nil {
		return err
	}
	for {
		select {
		case text, more := <-frames:
			if !more {
				return ended
			}
			if err := f.take(ctx, text); err != nil {
				return err
			}
		case <-awake.Done():
			return context.Cause(awake)
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
		return nil, unreached(s.location.String(), ctx.Err())
	case err == nil:
		return socket, nil
	case answer == nil:
		return nil, unreached(s.location.String(), err)
	}
	said, _ := io.ReadAll(answer.Body) // the library has kept a little of it
	return nil, refusal(answer.StatusCode, said, ScopeStream)
}

// readFrames passes frames on until the connection or ctx ends, and returns why.
func readFrames(ctx context.Context, socket *websocket.Conn, frames chan<- []byte) error {
	patience := welcomeTimeout
	alive := func() error { return socket.SetReadDeadline(time.Now().Add(patience)) }
	socket.SetReadLimit(maxFrame)
	socket.SetPingHandler(func(data string) error {
		// A pong that cannot be sent shows in the next read.
		_ = socket.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTimeout))
		return alive()
	})
	for {
		if err := alive(); err != nil {
			return err
		}
		_, text, err := socket.ReadMessage()
		if err != nil {
			return readError(err)
		}
		patience = silenceTimeout
		select {
		case frames <- text:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readError separates a final close from one worth another attempt.
func readError(err error) error {
	var closed *websocket.CloseError
	switch {
	case !errors.As(err, &closed):
		return fmt.Errorf("read the stream: %w", err)
	case closed.Code >= 4500 && closed.Code < 4600:
		return &RefusedError{closed.Code,
			fmt.Sprintf("the relay refuses this client (%d): %s", closed.Code, api.Scrub(closed.Text))}
	}
	return fmt.Errorf("the relay closed the stream (%d)", closed.Code)
}

// following is the progress of a session.
type following struct {
	subscriber *Subscriber
	handler    Handler
	observer   Observer // the handler, if it wants observations
	welcomed   bool
	wrong      WrongSignatures // as the relay reported
	at         cursor
	silent     int // consecutive heartbeats with a head ahead and no new event
}

func (f *following) sayHello(socket *websocket.Conn) error {
	cfg := f.subscriber.config
	hello := helloFrame{T: frameHello, From: cfg.From, Since: cfg.Since, Types: cfg.Types, Client: cfg.Client}
	if at, err := parseCursor(f.subscriber.Cursor()); err == nil {
		hello.Cursor, hello.Last = new(at.position()), at.last
	}
	if cfg.Here {
		hello.Now = time.Now().UTC()
	}
	if f.observer == nil {
		hello.Observed = noObservations
	}
	if err := socket.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if err := socket.WriteJSON(hello); err != nil {
		return fmt.Errorf("greet the relay: %w", err)
	}
	return nil
}

// decode decodes a frame for what handles it.
func decode[F any](text []byte, handle func(F) error) error {
	var frame F
	if err := json.Unmarshal(text, &frame); err != nil {
		return fmt.Errorf("the relay sent a frame that cannot be read: %w", err)
	}
	return handle(frame)
}

// take handles one frame. It ignores unknown ones, whose members may mean something else.
func (f *following) take(ctx context.Context, text []byte) error {
	kind := gjson.GetBytes(text, "t").Str
	switch kind {
	case frameWelcome:
		return decode(text, f.welcome)
	case frameBye:
		return decode(text, func(bye byeFrame) error { return byeOf(bye) })
	case frameEvents, frameGap, frameLive, frameHeartbeat, frameObservations, frameWrong:
		if !f.welcomed {
			return errNoWelcome
		}
	}
	switch kind {
	case frameEvents:
		return decode(text, func(frame eventsFrame) error { return f.events(ctx, frame.Items) })
	case frameGap:
		return decode(text, f.gap)
	case frameLive:
		return decode(text, f.live)
	case frameHeartbeat:
		return decode(text, f.heartbeat)
	case frameObservations:
		return decode(text, f.observations)
	case frameWrong:
		return decode(text, f.wrongSignatures)
	}
	return decode(text, func(json.RawMessage) error { return nil })
}

// welcome sets the cursor to where the relay starts.
func (f *following) welcome(frame welcomeFrame) error {
	next := Status{State: Replaying, Resume: frame.Resume}
	at := cursor{epoch: frame.Epoch, seq: frame.Oldest - 1}
	if !IsCursor(at.String()) || frame.Head < 0 {
		return errors.New("the relay's welcome cannot be read")
	}
	known, err := parseCursor(f.subscriber.Cursor())
	knows := err == nil && known.epoch == frame.Epoch
	switch {
	case frame.Resume == ResumeOK && !knows:
		return errors.New("the relay resumed a cursor that it was not given")
	case frame.Resume == ResumeOK:
		at = known
	case frame.Resume == ResumeFresh:
		if f.subscriber.config.From == FromLatest {
			at.seq = frame.Head
		}
		at.seq = min(max(at.seq, frame.Start), frame.Head)
		f.subscriber.begin(frame)
	case frame.Resume == ResumeGap && frame.Lost != nil:
		next.LostFrom, next.LostTo = frame.Lost.From, frame.Lost.To
		at.seq = frame.Lost.To
	case frame.Resume == ResumeReset:
		if knows && known.seq > frame.Head {
			next.Ahead = known.seq
		}
		f.subscriber.stored = 0
	default:
		return fmt.Errorf("the relay's welcome says %.20q, which this version does not support", frame.Resume)
	}
	f.welcomed, f.at = true, at
	f.subscriber.moved(at)
	f.subscriber.note(func(known *Status) { known.Head, known.ObservedSince = frame.Head, frame.ObservedSince })
	f.subscriber.enter(f.handler, next)
	return nil
}

// begin notes where a stream without a cursor begins. The relay may send earlier events, too.
func (s *Subscriber) begin(welcome welcomeFrame) {
	s.stored, s.since = welcome.Head, s.config.Since
	if s.config.Here && !welcome.Now.IsZero() {
		s.since = s.since.Add(time.Until(welcome.Now))
	}
}

// events delivers new events and moves the cursor past them. Those received before the configured time are not
// wanted, unless they are new.
func (f *following) events(ctx context.Context, items []wireItem) error {
	var batch []Item
	at := f.at
	for _, wire := range items {
		if wire.Seq <= at.seq {
			continue
		}
		item := itemFrom(wire)
		at = at.after(item.Seq, string(item.ID))
		if item.Seq > f.subscriber.stored || !item.Received.Before(f.subscriber.since) {
			batch = append(batch, item)
		}
	}
	if at == f.at {
		return nil // only what was sent before, which is no sign of life
	}
	f.silent = 0
	if len(batch) > 0 {
		if err := f.handler.Events(ctx, batch); err != nil {
			return fmt.Errorf("handle events: %w", err)
		}
	}
	f.at = at
	f.subscriber.moved(at)
	return nil
}

// itemFrom decodes an event. If this version cannot decode it, the item keeps what the relay read of it.
func itemFrom(wire wireItem) Item {
	event, err := api.DecodeEvent(wire.Raw)
	if err != nil {
		event = api.Event{
			ID: api.ScrubID(wire.ID), Type: api.EventType(api.Scrub(wire.Type)), CreatedAt: wire.At, Raw: wire.Raw,
		}
	}
	return Item{
		Seq: wire.Seq, ID: api.ScrubID(wire.ID), Event: event, Received: wire.Received,
		Origin: string(api.Scrub(wire.Origin)), Duplicates: wire.Duplicates, Conflicts: wire.Conflicts,
	}
}

// gap moves the cursor past events that cannot be read any more.
func (f *following) gap(lost gapFrame) error {
	if lost.To <= f.at.seq {
		return nil
	}
	f.silent = 0
	from := max(lost.From, f.at.seq+1)
	f.at = f.at.after(lost.To, "")
	f.subscriber.moved(f.at)
	f.tell(func(known *Status) { known.LostFrom, known.LostTo = from, lost.To })
	return nil
}

func (f *following) live(frame liveFrame) error {
	f.skipTo(frame.Cursor, frame.Last)
	f.subscriber.note(func(known *Status) { known.Wrong = f.wrong }) // none if the relay has reported none by now
	f.subscriber.enter(f.handler, Status{State: Live})
	return nil
}

func (f *following) heartbeat(frame heartbeatFrame) error {
	f.skipTo(frame.Cursor, frame.Last)
	f.tell(func(known *Status) { known.Head = frame.Head })
	if f.silent++; frame.Head <= f.at.seq {
		f.silent = 0
	}
	if f.silent >= silentBeats {
		return errSilent
	}
	return nil
}

// skipTo moves the cursor past events that the filter held back.
func (f *following) skipTo(position, last string) {
	if at, err := parseCursor(position); err == nil && at.epoch == f.at.epoch && at.seq > f.at.seq {
		at.last = lastOf(last)
		f.at = at
		f.subscriber.moved(at)
	}
}

// observations passes observations on. The relay has checked them, yet invalid ones are dropped here, too.
func (f *following) observations(frame observationsFrame) error {
	batch := frame.Items[:0]
	for _, o := range frame.Items {
		if o, err := sound(o); err == nil {
			batch = append(batch, o)
		}
	}
	if f.observer != nil {
		f.observer.Observe(batch)
	}
	return nil
}

func (f *following) wrongSignatures(frame wrongFrame) error {
	f.wrong = frame.WrongSignatures
	f.wrong.Text = string(api.Scrub(f.wrong.Text))
	f.tell(func(known *Status) { known.Wrong = f.wrong })
	return nil
}

// tell changes the status and informs the handler.
func (f *following) tell(change func(*Status)) {
	f.subscriber.note(change)
	f.handler.Status(f.subscriber.Status())
}
