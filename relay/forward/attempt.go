package forward

import (
	"context"
	"encoding/json"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// attempt makes an attempt, and has the loop know what came of it.
func (l *lane) attempt(ctx context.Context, q *queue, h *Held) {
	l.busy++
	d := h.Delivery
	d.State, d.Sent, d.Attempts = delivery.Sending, time.Now(), d.Attempts+1
	l.f.note(d)
	l.tasks.Go(func() {
		h.Delivery = l.f.config.Sender.Send(ctx, l.target.URL, h.Item, h.Delivery)
		select {
		case l.outcomes <- outcome{q, h}:
		case <-ctx.Done():
		}
	})
}

// settle takes what came of an attempt.
func (l *lane) settle(o outcome) error {
	l.busy--
	l.unsaved++
	var err error
	switch h := o.of; {
	case h.Delivery.State == delivery.Delivered:
		if l.failures >= downAfter { // it is back: nothing waits out its pause
			l.due.hurry(func(*queue) bool { return true })
		}
		l.failures, l.probes = 0, 0
		err = l.f.state.taken(l.target.URL, h.Event.ID)
	case o.queue == nil: // asked for: it stays what it was
		h.Delivery.State = delivery.Delivered
		if h.Dead {
			h.Delivery.State = delivery.Dead
			err = l.f.state.update(h)
		}
	default:
		l.failed(h)
		err = l.f.state.update(h)
	}
	l.f.tell(*o.of)
	switch {
	case err != nil || o.queue == nil:
	case o.of.Delivery.State == delivery.Waiting:
		l.enqueue(o.queue, o.of.Delivery.Next)
	default:
		l.drop(o.queue)
	}
	return err
}

// failed notes that an event was not taken, and gives it up when its time has come.
func (l *lane) failed(h *Held) {
	if h.Delivery.Attempts == 1 {
		l.failures++
	}
	if l.failures >= downAfter {
		l.probes++
		l.probeAt = time.Now().Add(min(pause(l.probes), lastProbe))
	}
	if h.Since.IsZero() {
		h.Since = h.Delivery.Sent
	}
	if h.Dead = time.Since(h.Since) >= l.f.config.GiveUp; h.Dead {
		h.Delivery.State = delivery.Dead
	} else {
		h.Delivery.Next = time.Now().Add(pause(h.Delivery.Attempts))
	}
}

// again makes an attempt that somebody asked for.
func (l *lane) again(ctx context.Context, r request) error {
	all, err := l.f.state.held(selectHeld+"WHERE target = ? AND id = ?", l.target.URL, r.of.Event)
	switch {
	case err != nil:
		r.answer <- err
		return err
	case len(all) > 0 && !all[0].Dead: // in its turn, but now
		source := all[0].Event.Source.ID
		l.due.hurry(func(q *queue) bool { return q.source == source })
		if q := l.queues[source]; q != nil && !q.busy {
			l.probeAt = time.Now()
		}
	case len(all) > 0:
		l.attempt(ctx, nil, all[0])
	case r.of.State == delivery.Delivered && len(r.of.Request.Body) < keptBody:
		event, err := api.DecodeEvent(r.of.Request.Body)
		if err != nil {
			event = api.Event{ID: r.of.Event, Type: r.of.Type, Raw: json.RawMessage(r.of.Request.Body)}
		}
		l.attempt(ctx, nil, &Held{Item: relay.Item{Event: event, Received: l.f.config.Sender.sent(r.of)}, Target: l.target.URL, Delivery: r.of})
	case r.of.State == delivery.Delivered:
		r.answer <- errNotAgain
		return nil
	}
	r.answer <- nil
	return nil
}
