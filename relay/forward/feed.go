package forward

import (
	"context"
	"errors"
	"fmt"

	"tillwatch/api/delivery"
	"tillwatch/relay"
)

var errEnding = errors.New("forwarding ends")

// Events implements [relay.Handler]. It blocks while the lane is full: the relay keeps
// unread events.
func (l *lane) Events(ctx context.Context, batch []relay.Item) error {
	var a arrival
	epoch := l.source.Status().Epoch
	for _, item := range batch {
		a.cursor = fmt.Sprintf("%s:%d", epoch, item.Seq)
		a.events = append(a.events, l.heldOf(item, a.cursor))
	}
	return l.hand(ctx, a)
}

func (l *lane) heldOf(item relay.Item, cursor string) *Held {
	event := item.Event
	return &Held{Item: item, Target: l.target.URL, Cursor: cursor, Delivery: delivery.Delivery{
		ID: l.idOf(event.ID), Target: l.shown, Event: event.ID, Type: event.Type, Source: event.Source.ID, State: delivery.Waiting, Since: item.Received,
	}}
}

// Status implements [relay.Handler]. At the start of the stream, and past events of
// other types, the cursor moves without an event. The loop reports a live stream, for
// it knows how many events wait.
func (l *lane) Status(s relay.Status) {
	if s.State == relay.Live {
		l.live.Store(&s)
		l.mark()
		return
	}
	l.live.Store(nil)
	if s.State == relay.Replaying {
		l.mark()
	}
	l.reportStatus(&s, 0)
}

func (l *lane) reportStatus(s *relay.Status, waiting int) {
	if l.f.config.Status != nil {
		l.f.reporting.Lock()
		defer l.f.reporting.Unlock()
		if s.State == relay.Live && l.live.Load() != s {
			return // the stream has ended meanwhile
		}
		l.f.config.Status(l.shown, *s, waiting)
	}
}

// reportLive reports that the stream is live and how many events wait, and once more
// when none do.
func (l *lane) reportLive() {
	if s := l.live.Load(); s != nil && (l.reported != s || l.waited > 0 && l.held == 0) {
		l.reported, l.waited = s, l.held
		l.reportStatus(s, l.held)
	}
}

// mark passes a cursor without an event to the loop.
func (l *lane) mark() { _ = l.hand(context.Background(), arrival{cursor: l.source.Cursor()}) }

// hand passes what was read to the loop.
func (l *lane) hand(ctx context.Context, a arrival) error {
	select {
	case l.arrivals <- a:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.left:
		return errEnding
	}
}
