package forward

import (
	"container/heap"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
)

const (
	firstPause = time.Second
	lastPause  = time.Minute

	// downAfter first attempts in a row that fail, of whatever source, mean that the
	// target is down: then one event at a time is tried, until it takes one.
	downAfter = 2 * atOnce

	lastProbe = 10 * time.Second

	// saveEvery bounds what is repeated after a kill while there is no pause to save in.
	saveEvery = 64
)

// pause is the time before the next attempt: twice as long each time, and somewhere in
// its upper half, so that what failed together does not come back together.
func pause(attempts int) time.Duration {
	longest := min(firstPause<<min(max(attempts-1, 0), 10), lastPause)
	return longest/2 + rand.N(longest/2)
}

// lane delivers events to one target. What is below stored belongs to the goroutine of
// loop.
type lane struct {
	f        *Forwarder
	target   Target
	shown    api.Text
	source   Source
	arrivals chan *entry
	outcomes chan outcome
	requests chan request
	reading  chan struct{} // closed once nothing arrives any more
	left     chan struct{} // closed once nothing is taken any more
	tasks    sync.WaitGroup
	resumed  bool // there was a cursor: what is behind it is wanted, whenever it was received
	welcomed bool
	stored   int64 // the head of the journal at the first welcome: what follows is new

	window []*entry // what was read and is neither taken nor held, in order, and what is between
	queues map[api.ID]*queue
	due    dueQueues // those that have something to try, the next first
	held   int       // events that wait on disk
	busy   int       // attempts under way

	saved   string // the cursor on disk
	unsaved int    // outcomes since
	order   int64  // of the next queue that becomes due

	failures int       // first attempts in a row that failed
	probes   int       // attempts since the target is down
	probeAt  time.Time // of the next
}

// entry is an event that was read, or a position without one.
type entry struct {
	Held
	fresh   bool // it has an event
	settled bool // taken or held: the cursor may pass it
}

// outcome is what came of an attempt.
type outcome struct {
	queue *queue // nil: somebody asked for it, beside the order
	entry *entry
}

// request asks for a delivery to be made again.
type request struct {
	of     delivery.Delivery
	answer chan error
}

func (f *Forwarder) openLane(t Target) (*lane, error) {
	l := &lane{
		f: f, target: t, shown: Shown(t.URL), queues: map[api.ID]*queue{},
		arrivals: make(chan *entry), outcomes: make(chan outcome, atOnce), requests: make(chan request),
		reading: make(chan struct{}), left: make(chan struct{}),
	}
	cursor, err := f.state.cursor(t.URL)
	if err != nil {
		return nil, err
	}
	l.saved, l.resumed = cursor, cursor != ""
	waiting, err := f.state.waiting(t.URL)
	if err != nil {
		return nil, err
	}
	l.held = len(waiting)
	for _, row := range waiting {
		q := l.queueOf(row.source)
		if q.rows = append(q.rows, row.n); len(q.rows) == 1 {
			q.next = row.next
		}
	}
	for _, q := range l.queues {
		l.enqueue(q)
	}
	earlier, err := f.state.held("WHERE target = ? ORDER BY n DESC LIMIT ?", t.URL, maxKept)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Backward(earlier) {
		f.note(h.Delivery)
	}
	l.source, err = f.config.Subscribe(t, cursor)
	return l, err
}

func (l *lane) idOf(event api.ID) api.ID { return DeliveryID(event, l.target.URL) }

// run delivers until ctx ends.
func (l *lane) run(ctx context.Context) error {
	if l.f.config.Challenge {
		if err := l.challenge(ctx); err != nil {
			return ctxEnded(ctx, err)
		}
	}
	reading, stop := context.WithCancel(ctx)
	attempts, abort := context.WithCancel(context.WithoutCancel(ctx))
	refused := make(chan error, 1)
	l.tasks.Go(func() {
		defer close(l.reading)
		refused <- l.source.Run(reading, l)
	})
	err := l.loop(ctx, attempts)
	stop()
	abort()
	l.tasks.Wait()
	return errors.Join(err, <-refused)
}

// ctxEnded is nil for an error that only says that ctx has ended.
func ctxEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// loop ends with an error once the state cannot be written, else when ctx has ended or
// the relay refuses, and no attempt is under way any more.
func (l *lane) loop(ctx, attempts context.Context) error {
	defer close(l.left)
	timer := time.NewTimer(0)
	defer timer.Stop()
	reading, ended := l.reading, ctx.Done()
	for ending := false; ; {
		wait := time.Duration(-1)
		if !ending {
			var err error
			if wait, err = l.dispatch(attempts); err != nil {
				return err
			}
		}
		if len(l.outcomes) == 0 || l.unsaved >= saveEvery {
			if err := l.save(); err != nil {
				return err
			}
		}
		if ending && l.busy == 0 {
			return nil
		}
		arrivals, requests := l.arrivals, l.requests
		if ending || len(l.window) >= maxWindow || l.held >= maxHeld {
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
		case e := <-arrivals:
			err = l.arrive(e)
		case o := <-l.outcomes:
			err = l.settle(o)
		case r := <-requests:
			err = l.again(attempts, r)
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

// arrive takes an event that was read.
func (l *lane) arrive(e *entry) error {
	l.window = append(l.window, e)
	if !e.fresh {
		e.settled = true
		return nil
	}
	q := l.queueOf(e.Event.Source.ID)
	if len(q.rows) == 0 {
		q.fresh = append(q.fresh, e)
		if len(q.fresh) == 1 && !q.busy {
			q.next = time.Now()
			l.enqueue(q)
		}
		return nil
	}
	return l.hold(q, e)
}

// hold keeps an event on disk, behind those of its source that are there.
func (l *lane) hold(q *queue, e *entry) error {
	added, err := l.f.state.hold(&e.Held)
	if err != nil {
		return err
	}
	e.settled = true
	l.unsaved++
	if added && !e.Dead {
		q.rows = append(q.rows, e.n)
		l.held++
	}
	l.f.note(e.Delivery)
	return nil
}

// dispatch begins the attempts that are due. It returns the time until the next one
// is, negative for none.
func (l *lane) dispatch(ctx context.Context) (wait time.Duration, err error) {
	for l.due.Len() > 0 {
		down := l.failures >= downAfter
		if l.busy >= atOnce || down && l.busy > 0 {
			return -1, nil
		}
		at := l.due.queues[0].next
		if down {
			at = l.probeAt
		}
		if wait := time.Until(at); wait > 0 {
			return wait, nil
		}
		q := heap.Pop(&l.due).(*queue)
		e, err := l.head(q)
		if err != nil {
			return -1, err
		}
		if e != nil {
			q.busy = true
			l.attempt(ctx, q, e)
		}
	}
	return -1, nil
}

// head is what a queue has to try first. Nil: another process has delivered it, and
// the queue is due again.
func (l *lane) head(q *queue) (*entry, error) {
	if len(q.rows) == 0 {
		return q.fresh[0], nil
	}
	h, err := l.f.state.heldAt(q.rows[0])
	if err != nil {
		return nil, err
	}
	if h == nil {
		l.takenRow(q)
		l.next(q)
		return nil, nil
	}
	return &entry{Held: *h, settled: true}, nil
}

// save moves the cursor behind what is taken or held, and has all of it last.
func (l *lane) save() error {
	reached := l.saved
	for len(l.window) > 0 && l.window[0].settled {
		reached, l.window = l.window[0].Cursor, l.window[1:]
	}
	if l.unsaved == 0 && reached == l.saved {
		return nil
	}
	if reached != l.saved {
		if err := l.f.state.moveCursor(l.target.URL, reached); err != nil {
			return err
		}
	}
	l.saved, l.unsaved = reached, 0
	return l.f.state.commit()
}
