package forward

import (
	"context"
	"encoding/json"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// attempt sends an event in the background and passes the outcome to the loop.
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

// settle handles the outcome of an attempt.
func (l *lane) settle(o outcome) error {
	l.busy--
	l.unsaved++
	var err error
	switch h := o.of; {
	case h.Delivery.State == delivery.Delivered:
		if l.failures >= downAfter { // the target is back: try everything now
			l.due.hurry(func(*queue) bool { return true })
		}
		l.failures, l.probes = 0, 0
		err = l.f.state.taken(l.target.URL, h.Event.ID)
	case o.queue == nil: // on request: it keeps its earlier state
		h.Delivery.State = delivery.Delivered
		if h.Dead {
			h.Delivery.State = delivery.Dead
			err = l.f.state.update(h)
		}
	default:
		l.failed(o.queue, h)
		err = l.f.state.update(h)
	}
	l.f.report(*o.of)
	switch {
	case err != nil || o.queue == nil:
	case o.of.Delivery.State == delivery.Waiting:
		l.enqueue(o.queue, o.of.Delivery.Next)
	default:
		l.drop(o.queue)
	}
	return err
}

// failed records a failed attempt and sets the next one, or gives the event up once it
// has been tried for long enough.
func (l *lane) failed(q *queue, h *Held) {
	if h.Delivery.Attempts == 1 {
		l.failures++
	}
	if l.failures >= downAfter {
		l.probes++
		l.probeAt = time.Now().Add(min(pause(l.probes), lastProbe))
	}
	if q.since.IsZero() {
		q.since = h.Delivery.Sent
	}
	tried := time.Since(q.since)
	h.Since = h.Delivery.Sent.Add(-tried)
	if h.Dead = tried >= l.f.config.GiveUp; h.Dead {
		h.Delivery.State = delivery.Dead
	} else {
		h.Delivery.Next = time.Now().Add(pause(h.Delivery.Attempts))
	}
}

// again makes an attempt on request.
func (l *lane) again(ctx context.Context, r request) error {
	all, err := l.f.state.held(selectHeld+"WHERE target = ? AND id = ?", l.target.URL, r.of.Event)
	switch {
	case err != nil:
		r.answer <- err
		return err
	case len(all) > 0 && !all[0].Dead: // it waits: try its queue now
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
