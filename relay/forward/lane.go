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
	arrivals chan arrival
	outcomes chan outcome
	requests chan request
	reading  chan struct{} // closed once nothing arrives any more
	left     chan struct{} // closed once nothing is taken any more
	tasks    sync.WaitGroup
	resumed  bool // there was a cursor: what is behind it is wanted, whenever it was received
	welcomed bool
	stored   int64                        // the head of the journal at the first welcome: what follows is new
	live     atomic.Pointer[relay.Status] // of the stream, while it is live

	queues  map[api.ID]*queue
	due     dueQueues // those that have something to try, the next first
	held    int       // events that wait
	busy    int       // attempts under way
	unsaved int       // changes of the state since the last commit

	told *relay.Status // the live status that was told last
	then int           // how much waited then

	failures int       // first attempts in a row that failed
	probes   int       // attempts since the target is down
	probeAt  time.Time // of the next
}

// arrival is what was read of the stream: events, if any, and the cursor behind them.
type arrival struct {
	events []*Held
	cursor string
}

// outcome is what came of an attempt.
type outcome struct {
	queue *queue // nil: somebody asked for it, beside the order
	of    *Held
}

// request asks for a delivery to be made again.
type request struct {
	of     delivery.Delivery
	answer chan error
}

func (f *Forwarder) openLane(t Target) (*lane, error) {
	l := &lane{
		f: f, target: t, shown: Shown(t.URL), queues: map[api.ID]*queue{},
		arrivals: make(chan arrival), outcomes: make(chan outcome, atOnce), requests: make(chan request),
		reading: make(chan struct{}), left: make(chan struct{}),
	}
	cursor, err := f.state.cursor(t.URL)
	if err != nil {
		return nil, err
	}
	l.resumed = cursor != ""
	if err := f.state.waiting(t.URL, l.queueUp); err != nil {
		return nil, err
	}
	earlier, err := f.state.held(selectHeld+"WHERE target = ? ORDER BY n DESC LIMIT ?", t.URL, maxKept)
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
		switch err := l.challenge(ctx); {
		case ctx.Err() != nil:
			return fmt.Errorf("%s got no events: it has not answered its challenge", l.shown)
		case err != nil:
			return err
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
		if l.unsaved >= saveEvery || l.unsaved > 0 && len(l.outcomes) == 0 {
			if err := l.f.state.commit(); err != nil {
				return err
			}
			l.unsaved = 0
		}
		if ending && l.busy == 0 {
			return nil
		}
		l.tellLive()
		arrivals, requests := l.arrivals, l.requests
		if ending || l.held >= maxHeld {
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
			err = l.arrive(a)
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

// arrive keeps what was read on disk, and has it tried.
func (l *lane) arrive(a arrival) error {
	for _, h := range a.events {
		added, err := l.f.state.hold(h)
		if err != nil {
			return err
		}
		if added {
			l.f.note(h.Delivery)
			l.queueUp(h.Event.Source.ID, h.n, time.Now())
		}
	}
	l.unsaved++
	return l.f.state.moveCursor(l.target.URL, a.cursor)
}

// dispatch begins the attempts that are due. It returns the time until the next one
// is, negative for none.
func (l *lane) dispatch(ctx context.Context) (wait time.Duration, err error) {
	for len(l.due) > 0 {
		down := l.failures >= downAfter
		if l.busy >= atOnce || down && l.busy > 0 {
			return -1, nil
		}
		at := l.due[0].next
		if down {
			at = l.probeAt
		}
		if wait := time.Until(at); wait > 0 {
			return wait, nil
		}
		q := heap.Pop(&l.due).(*queue)
		h, err := l.f.state.heldAt(q.rows[0])
		switch {
		case err != nil:
			return -1, err
		case h == nil: // another process has delivered it
			l.drop(q)
		default:
			q.busy = true
			l.attempt(ctx, q, h)
		}
	}
	return -1, nil
}
