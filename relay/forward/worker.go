package forward

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

const (
	firstPause = time.Second
	lastPause  = time.Minute

	// After downAfter events in a row that failed, or one for which there was no connection,
	// the target counts as down: the worker tries one event at a time until the target takes
	// one.
	downAfter = 2 * atOnce

	lastProbe = 10 * time.Second

	maxAsked = 10 * time.Minute // the longest pause that a target gets because it asks for one

	// saveEvery is after how many changes a busy worker commits its state: a kill repeats
	// no more than these.
	saveEvery = 64
)

// pause is the time before the next attempt. It doubles each time, with a random part
// of up to a half: events that failed together are not tried together again.
func pause(attempts int) time.Duration {
	longest := min(firstPause<<min(max(attempts-1, 0), 10), lastPause)
	return longest/2 + rand.N(longest/2)
}

// worker delivers events to one target. The fields from queues on belong to the goroutine
// of loop.
type worker struct {
	f        *Forwarder
	target   Target
	shown    api.Text
	source   Source
	arrivals chan arrival
	outcomes chan outcome
	requests chan request
	reading  chan struct{} // closed once reading has ended
	left     chan struct{} // closed once loop has ended
	tasks    sync.WaitGroup
	live     atomic.Pointer[relay.Status] // the stream's status while it is live, else nil

	queues  map[api.ID]*queue
	due     dueQueues      // the queues without an attempt under way, the next one first
	held    int            // waiting events
	busy    int            // attempts under way
	unsaved int            // changes of the state since the last commit
	resent  map[int64]bool // the dead events under way on request, by their numbers in the state

	reported *relay.Status // the live status that was last reported
	waited   int           // the waiting events in that report

	failures int       // events in a row that failed
	probes   int       // attempts since the target went down
	probeAt  time.Time // when the next one is due

	asked time.Time // the target asked to get nothing before
}

// arrival is what was read from the stream: events, if any, and the cursor after them.
type arrival struct {
	events []*Held
	cursor string
}

// outcome is the result of an attempt.
type outcome struct {
	queue *queue // nil for an attempt on request, out of order
	of    *Held
}

// request asks for another attempt of a delivery.
type request struct {
	of     delivery.Delivery
	answer chan error
}

func (f *Forwarder) openWorker(t Target) (*worker, error) {
	w := &worker{
		f: f, target: t, shown: Shown(t.URL), queues: map[api.ID]*queue{}, resent: map[int64]bool{},
		arrivals: make(chan arrival), outcomes: make(chan outcome, atOnce), requests: make(chan request),
		reading: make(chan struct{}), left: make(chan struct{}),
	}
	cursor, err := f.state.cursor(t.URL)
	if err != nil {
		return nil, err
	}
	if err := f.state.waiting(t.URL, w.queueAgain); err != nil {
		return nil, err
	}
	earlier, err := f.state.held(selectHeld+"WHERE target = ? ORDER BY n DESC LIMIT ?", t.URL, maxKept)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Backward(earlier) {
		f.note(h.Delivery)
	}
	w.source, err = f.config.Subscribe(t, cursor)
	return w, err
}

func (w *worker) idOf(event api.ID) api.ID { return deliveryID(event, w.target.URL) }

// run delivers until ctx ends.
func (w *worker) run(ctx context.Context) error {
	if w.f.config.Challenge {
		switch err := w.challenge(ctx); {
		case ctx.Err() != nil:
			return fmt.Errorf("%s got no events: it has not answered its challenge", w.shown)
		case err != nil:
			return err
		}
	}
	reading, stop := context.WithCancel(ctx)
	attempts, abort := context.WithCancel(context.WithoutCancel(ctx))
	refused := make(chan error, 1)
	w.tasks.Go(func() {
		defer close(w.reading)
		refused <- w.source.Run(reading, w)
	})
	err := w.loop(ctx, attempts)
	stop()
	abort()
	w.tasks.Wait()
	return errors.Join(err, <-refused)
}

// loop ends with an error if the state cannot be written. Otherwise it ends once ctx has
// ended or the relay refuses the stream, and no attempt is under way.
func (w *worker) loop(ctx, attempts context.Context) error {
	defer close(w.left)
	timer := time.NewTimer(0)
	defer timer.Stop()
	reading, ended := w.reading, ctx.Done()
	for ending := false; ; {
		wait := time.Duration(-1)
		if !ending {
			var err error
			if wait, err = w.dispatch(attempts); err != nil {
				return err
			}
		}
		if w.unsaved >= saveEvery || w.unsaved > 0 && len(w.outcomes) == 0 {
			if err := w.f.state.commit(); err != nil {
				return err
			}
			w.unsaved = 0
		}
		if ending && w.busy == 0 {
			return nil
		}
		w.reportLive()
		arrivals, requests := w.arrivals, w.requests
		if ending || w.held >= maxHeld {
			arrivals = nil
		}
		if ending {
			requests = nil
		}
		timer.Stop()
		if wait >= 0 {
			timer.Reset(wait)
		}
		var err error
		select {
		case a := <-arrivals:
			err = w.arrive(a)
		case o := <-w.outcomes:
			err = w.settle(o)
		case r := <-requests:
			err = w.again(attempts, r)
		case <-timer.C:
		case <-reading:
			ending, reading = true, nil
		case <-ended:
			ending, ended = true, nil
		}
		if err != nil {
			return err
		}
	}
}

// arrive keeps new events on disk and queues them.
func (w *worker) arrive(a arrival) error {
	for _, h := range a.events {
		added, err := w.f.state.hold(h)
		if err != nil {
			return err
		}
		if added {
			w.f.note(h.Delivery)
			w.queueUp(h.Event.Source.ID, h.n, time.Now())
		}
	}
	w.unsaved++
	return w.f.state.exec(placeCursor, w.target.URL, a.cursor)
}

// dispatch begins the attempts that are due. It returns the time until the next one,
// negative if there is none.
func (w *worker) dispatch(ctx context.Context) (wait time.Duration, err error) {
	for len(w.due) > 0 {
		down := w.failures >= downAfter
		if w.busy >= atOnce || down && w.busy > 0 {
			return -1, nil
		}
		at := w.due[0].next
		if down {
			at = w.probeAt
		}
		if at.Before(w.asked) {
			at = w.asked
		}
		if wait := time.Until(at); wait > 0 {
			return wait, nil
		}
		q := heap.Pop(&w.due).(*queue)
		h, err := w.f.state.heldAt(q.rows[0])
		switch {
		case err != nil:
			return -1, err
		case h == nil: // another process has delivered it
			w.drop(q)
		default:
			q.resume(h)
			q.busy = true
			w.attempt(ctx, q, h)
		}
	}
	return -1, nil
}
