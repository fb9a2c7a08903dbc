package forward

import (
	"context"
	"errors"
	"fmt"

	"tillwatch/api/delivery"
	"tillwatch/relay"
)

var errEnding = errors.New("forwarding ends")

// Events implements [relay.Handler]. It waits while there is no room: the relay keeps
// what is not read.
func (l *lane) Events(ctx context.Context, batch []relay.Item) error {
	var a arrival
	epoch := l.source.Status().Epoch
	for _, item := range batch {
		a.cursor = fmt.Sprintf("%s:%d", epoch, item.Seq)
		if l.resumed || item.Seq > l.stored || !item.Received.Before(l.f.config.Since) {
			a.events = append(a.events, l.heldOf(item, a.cursor))
		}
	}
	return l.hand(ctx, a)
}

func (l *lane) heldOf(item relay.Item, cursor string) *Held {
	event := item.Event
	return &Held{Item: item, Target: l.target.URL, Cursor: cursor, Delivery: delivery.Delivery{
		ID: l.idOf(event.ID), Target: l.shown, Event: event.ID, Type: event.Type, Source: event.Source.ID, State: delivery.Waiting, Since: item.Received,
	}}
}

// Status implements [relay.Handler]. Where the stream begins, and over what it was not
// asked for, the cursor moves without an event. That it is live is told by the loop,
// which knows what waits.
func (l *lane) Status(s relay.Status) {
	if s.State == relay.Live {
		l.live.Store(&s)
		l.mark()
		return
	}
	l.live.Store(nil)
	if s.State == relay.Replaying {
		if !l.welcomed {
			l.stored, l.welcomed = s.Head, true
		}
		l.mark()
	}
	l.tellStatus(&s, 0)
}

func (l *lane) tellStatus(s *relay.Status, waiting int) {
	if l.f.config.Status != nil {
		l.f.telling.Lock()
		defer l.f.telling.Unlock()
		if s.State == relay.Live && l.live.Load() != s {
			return // it has ended meanwhile
		}
		l.f.config.Status(l.shown, *s, waiting)
	}
}

// tellLive tells that the stream is live and how much waits, and once more when nothing
// does.
func (l *lane) tellLive() {
	if s := l.live.Load(); s != nil && (l.told != s || l.then > 0 && l.held == 0) {
		l.told, l.then = s, l.held
		l.tellStatus(s, l.held)
	}
}

// mark hands over a position without an event.
func (l *lane) mark() { _ = l.hand(context.Background(), arrival{cursor: l.source.Cursor()}) }

// hand hands to the loop what was read.
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
