package forward

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/api/quota"
	"tillwatch/relay"
)

// attempt sends an event in the background and passes the outcome to the loop.
func (w *worker) attempt(ctx context.Context, q *queue, h *Held) {
	w.busy++
	d := h.Delivery
	d.State, d.Sent, d.Attempts = delivery.Sending, time.Now(), d.Attempts+1
	w.f.note(d)
	w.tasks.Go(func() {
		h.Delivery = w.f.config.Sender.Send(ctx, w.target.URL, h.Item, h.Delivery)
		select {
		case w.outcomes <- outcome{q, h}:
		case <-ctx.Done():
		}
	})
}

// settle handles the outcome of an attempt.
func (w *worker) settle(o outcome) error {
	w.busy--
	w.unsaved++
	var err error
	switch h := o.of; {
	case h.Delivery.State == delivery.Delivered:
		if w.failures >= downAfter { // the target is back: try everything now
			w.due.hurry(func(*queue) bool { return true })
		}
		w.failures, w.probes = 0, 0
		err = w.f.state.taken(w.target.URL, h.Event.ID)
	case o.queue == nil: // on request: it keeps its earlier state
		h.Delivery.State = delivery.Delivered
		if h.Dead {
			h.Delivery.State = delivery.Dead
			err = w.f.state.update(h)
		}
	default:
		w.failed(o.queue, h)
		err = w.f.state.update(h)
	}
	if o.queue == nil && o.of.Dead {
		delete(w.resent, o.of.n)
		err = errors.Join(err, w.f.state.releaseDead())
	}
	w.f.report(*o.of)
	switch {
	case err != nil || o.queue == nil:
	case o.of.Delivery.State == delivery.Waiting:
		w.enqueue(o.queue, o.of.Delivery.Next)
	default:
		w.drop(o.queue)
	}
	return err
}

// failed records a failed attempt and sets the next one, or gives the event up once it
// has been tried for long enough, or at once if the target says that it is gone.
func (w *worker) failed(q *queue, h *Held) {
	if !q.failed {
		q.failed = true
		w.failures++
	}
	if h.Delivery.Unreached {
		w.failures = max(w.failures, downAfter)
	}
	if w.failures >= downAfter {
		w.probes++
		w.probeAt = time.Now().Add(min(pause(w.probes), lastProbe))
	}
	if q.since.IsZero() {
		q.since = h.Delivery.Sent
	}
	tried := time.Since(q.since)
	h.Since = h.Delivery.Sent.Add(-tried)
	now, asked := time.Now(), askedPause(&h.Delivery)
	if until := now.Add(asked); until.After(w.asked) {
		w.asked = until
	}
	if h.Dead = tried >= w.f.config.GiveUp || h.Delivery.Status == http.StatusGone; h.Dead {
		h.Delivery.State = delivery.Dead
	} else {
		h.Delivery.Next = now.Add(max(pause(h.Delivery.Attempts), asked))
	}
}

// askedPause is how long the target's last answer asks to be left alone.
func askedPause(d *delivery.Delivery) time.Duration {
	asked, _ := quota.RetryAfter(d.Answer.Header, time.Now())
	return min(asked, maxAsked)
}

// again makes an attempt on request.
func (w *worker) again(ctx context.Context, r request) error {
	all, err := w.f.state.held(selectHeld+"WHERE target = ? AND id = ?", w.target.URL, r.of.Event)
	switch {
	case err != nil:
		r.answer <- err
		return err
	case len(all) > 0 && !all[0].Dead: // it waits: try its queue now
		source := all[0].Event.Source.ID
		w.due.hurry(func(q *queue) bool { return q.source == source })
		w.asked = time.Time{}
		if q := w.queues[source]; q != nil && !q.busy {
			w.probeAt = time.Now()
		}
	case len(all) > 0 && w.resent[all[0].n]: // it is on its way already
	case len(all) > 0:
		return w.resend(ctx, all[0].n, r.answer)
	case r.of.State == delivery.Delivered && len(r.of.Request.Body) < keptBody:
		event, err := api.DecodeEvent(r.of.Request.Body)
		if err != nil {
			event = api.Event{ID: r.of.Event, Type: r.of.Type, Raw: json.RawMessage(r.of.Request.Body)}
		}
		w.attempt(ctx, nil, &Held{Item: relay.Item{Event: event, Received: w.f.config.Sender.sent(r.of)}, Target: w.target.URL, Delivery: r.of})
	case r.of.State == delivery.Delivered:
		r.answer <- errNotAgain
		return nil
	}
	r.answer <- nil
	return nil
}

// resend makes an attempt of the dead event at n on request, unless another process resends dead events.
func (w *worker) resend(ctx context.Context, n int64, answer chan error) error {
	if err := w.f.state.ClaimDead(); err != nil {
		answer <- err
		return nil
	}
	h, err := w.f.state.heldAt(n)
	if err != nil || h == nil {
		err = errors.Join(err, w.f.state.releaseDead())
		answer <- cmp.Or(err, errors.New("another process has just delivered it"))
		return err
	}
	w.resent[n] = true
	w.attempt(ctx, nil, h)
	answer <- nil
	return nil
}
