package forward

import (
	"context"
	"errors"

	"tillwatch/api/delivery"
	"tillwatch/relay"
)

var errEnding = errors.New("forwarding ends")

// Events implements [relay.Handler]. It blocks while the worker is full: the relay keeps
// unread events.
func (w *worker) Events(ctx context.Context, batch []relay.Item) error {
	var a arrival
	epoch := w.source.Status().Epoch
	for _, item := range batch {
		a.cursor = item.Cursor(epoch)
		a.events = append(a.events, w.heldOf(item, a.cursor))
	}
	return w.hand(ctx, a)
}

func (w *worker) heldOf(item relay.Item, cursor string) *Held {
	event := item.Event
	return &Held{Item: item, Target: w.target.URL, Cursor: cursor, Delivery: delivery.Delivery{
		ID: w.idOf(event.ID), Target: w.shown, Event: event.ID, Type: event.Type, Source: event.Source.ID, State: delivery.Waiting, Since: item.Received,
	}}
}

// Status implements [relay.Handler]. At the start of the stream, and past events of
// other types, the cursor moves without an event. The loop reports a live stream, for
// it knows how many events wait.
func (w *worker) Status(s relay.Status) {
	if s.State == relay.Live {
		w.live.Store(&s)
		w.passCursor()
		return
	}
	w.live.Store(nil)
	if s.State == relay.Replaying {
		w.passCursor()
	}
	w.reportStatus(&s, 0)
}

func (w *worker) reportStatus(s *relay.Status, waiting int) {
	if w.f.config.Status != nil {
		w.f.reporting.Lock()
		defer w.f.reporting.Unlock()
		if s.State == relay.Live && w.live.Load() != s {
			return // the stream has ended meanwhile
		}
		w.f.config.Status(w.shown, *s, waiting)
	}
}

// reportLive reports that the stream is live and how many events wait, and once more
// when none do.
func (w *worker) reportLive() {
	if s := w.live.Load(); s != nil && (w.reported != s || w.waited > 0 && w.held == 0) {
		w.reported, w.waited = s, w.held
		w.reportStatus(s, w.held)
	}
}

// passCursor passes a cursor without an event to the loop.
func (w *worker) passCursor() { _ = w.hand(context.Background(), arrival{cursor: w.source.Cursor()}) }

// hand passes what was read to the loop.
func (w *worker) hand(ctx context.Context, a arrival) error {
	select {
	case w.arrivals <- a:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.left:
		return errEnding
	}
}
