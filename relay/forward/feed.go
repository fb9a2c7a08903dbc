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
// asked for, the cursor moves without an event.
func (l *lane) Status(s relay.Status) {
	switch s.State {
	case relay.Replaying:
		if !l.welcomed {
			l.stored, l.welcomed = s.Head, true
		}
		l.mark()
	case relay.Live:
		l.mark()
	}
	if l.f.config.Status != nil {
		l.f.telling.Lock()
		defer l.f.telling.Unlock()
		l.f.config.Status(l.shown, s)
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
