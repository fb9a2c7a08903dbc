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
func (l *lane) attempt(ctx context.Context, q *queue, e *entry) {
	l.busy++
	d := e.Delivery
	d.State, d.Sent, d.Attempts = delivery.Sending, time.Now(), d.Attempts+1
	l.f.note(d)
	l.tasks.Go(func() {
		e.Delivery = l.f.config.Sender.Send(ctx, l.target.URL, e.Item, e.Delivery)
		select {
		case l.outcomes <- outcome{q, e}:
		case <-ctx.Done():
		}
	})
}

// settle takes what came of an attempt.
func (l *lane) settle(o outcome) error {
	l.busy--
	l.unsaved++
	q, e := o.queue, o.entry
	if e.Delivery.State == delivery.Delivered {
		return l.take(q, e)
	}
	if q == nil { // asked for: it stays what it was
		e.Delivery.State = delivery.Delivered
		if e.Dead {
			e.Delivery.State = delivery.Dead
		}
		l.f.tell(e.Held)
		if e.n == 0 {
			return nil
		}
		return l.f.state.update(&e.Held)
	}
	if e.Delivery.Attempts == 1 {
		l.failures++
	}
	if l.failures >= downAfter {
		l.probes++
		l.probeAt = time.Now().Add(min(pause(l.probes), lastProbe))
	}
	if e.Since.IsZero() {
		e.Since = e.Delivery.Sent
	}
	if e.Dead = time.Since(e.Since) >= l.f.config.GiveUp; e.Dead {
		e.Delivery.State = delivery.Dead
	} else {
		e.Delivery.Next = time.Now().Add(pause(e.Delivery.Attempts))
	}
	defer l.f.tell(e.Held)
	return l.keep(q, e)
}

// take notes that the target has taken an event.
func (l *lane) take(q *queue, e *entry) error {
	defer l.f.tell(e.Held)
	if err := l.f.state.taken(l.target.URL, e.Event.ID); err != nil {
		return err
	}
	if l.failures >= downAfter { // it is back: nothing waits out its pause
		l.due.hurry(time.Now())
	}
	l.failures, l.probes = 0, 0
	switch {
	case q == nil:
		return nil
	case len(q.rows) > 0:
		l.takenRow(q)
	default:
		e.settled, q.fresh = true, q.fresh[1:]
	}
	l.next(q)
	return nil
}

// takenRow drops the first event that waits on disk.
func (l *lane) takenRow(q *queue) {
	q.rows = q.rows[1:]
	l.held--
}

// keep keeps an event that was not taken, and with the first one of a source those
// behind it.
func (l *lane) keep(q *queue, e *entry) error {
	next := e.Delivery.Next
	if len(q.rows) > 0 {
		if err := l.f.state.update(&e.Held); err != nil {
			return err
		}
		if e.Dead {
			l.takenRow(q)
		}
	} else {
		waiting := q.fresh
		if e.Dead { // those behind it have not been tried
			waiting, q.fresh = waiting[:1], waiting[1:]
		} else {
			q.fresh = nil
		}
		for _, w := range waiting {
			if err := l.hold(q, w); err != nil {
				return err
			}
		}
	}
	if !e.Dead {
		q.busy, q.next = false, next
		l.enqueue(q)
		return nil
	}
	l.next(q)
	return nil
}

// next has the rest of a queue tried, if there is any.
func (l *lane) next(q *queue) {
	if q.busy = false; len(q.rows)+len(q.fresh) == 0 {
		delete(l.queues, q.source)
		return
	}
	q.next = time.Now()
	l.enqueue(q)
}

// again makes an attempt that somebody asked for.
func (l *lane) again(ctx context.Context, r request) error {
	all, err := l.f.state.held("WHERE target = ? AND id = ?", l.target.URL, r.of.Event)
	switch {
	case err != nil:
		r.answer <- err
		return err
	case len(all) > 0 && !all[0].Dead: // in its turn, but now
		if q := l.queues[all[0].Event.Source.ID]; q != nil && !q.busy {
			l.due.hurryOne(q, time.Now())
			l.probeAt = time.Now()
		}
	case len(all) > 0:
		l.attempt(ctx, nil, &entry{Held: *all[0]})
	case r.of.State == delivery.Delivered && len(r.of.Request.Body) < keptBody:
		event, err := api.DecodeEvent(r.of.Request.Body)
		if err != nil {
			event = api.Event{ID: r.of.Event, Type: r.of.Type, Raw: json.RawMessage(r.of.Request.Body)}
		}
		l.attempt(ctx, nil, &entry{Held: Held{Item: relay.Item{Event: event, Received: l.f.config.Sender.sent(r.of)}, Target: l.target.URL, Delivery: r.of}})
	case r.of.State == delivery.Delivered:
		r.answer <- errNotAgain
		return nil
	}
	r.answer <- nil
	return nil
}
