// Package forward delivers the events of a relay to other endpoints, as the service
// delivers them to the relay: each at least once, in the order of the journal.
//
// [Run] has a loop for each target. It reads the relay's stream, sends one event after
// another and keeps on disk how far the target has got. An event that the target does not
// take holds up those after it, until it is given up. Then it is kept as dead.
package forward

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/api/durable"
	"tillwatch/api/quota"
	"tillwatch/relay"
)

// GiveUp is for how long an event is tried by default.
const GiveUp = time.Hour

const (
	lockWithin = time.Second // how long another run has to leave a target alone
	saveWithin = time.Second // while a target takes one event after another
)

// The pauses between the attempts of an event, before chance shortens or lengthens them by
// a third.
const (
	firstPause = 750 * time.Millisecond
	lastPause  = 45 * time.Second
)

// Target is an endpoint and the types of events that it wants, such as shipment.*; an
// empty list means all.
type Target struct {
	URL   string
	Types []string
}

// Source is the stream of a relay: a [relay.Subscriber].
type Source interface {
	Run(context.Context, relay.Handler) error
	Cursor() string
	Status() relay.Status
}

// Config says what to forward, and where to.
type Config struct {
	State   string // the folder that keeps how far each target has got, and what was given up
	Relay   string // names the relay in the state: each has cursors of its own
	Targets []Target
	Sender  Sender
	GiveUp  time.Duration // for how long a run tries an event, such as [GiveUp]

	// Subscribe opens the stream for a target after cursor; "" means no cursor yet.
	Subscribe func(t Target, cursor string) (Source, error)

	// Both are called one at a time. After an error of OnAttempt, forwarding ends with it.
	OnAttempt func(Attempt) error                        // after each attempt
	OnStatus  func(target api.Text, status relay.Status) // of a target's stream
}

// Attempt is the latest attempt to deliver an event.
type Attempt struct {
	relay.Item
	Target   string // its whole address
	Cursor   string // after the event
	Delivery delivery.Delivery

	file string // of a dead event
}

// Result is what a run leaves behind.
type Result struct {
	Waiting int   // events that were read and not taken: the next run begins with them
	Dead    int   // events that were given up
	Lost    int64 // events that the relay could no longer read
}

// Run forwards until ctx ends, and waits for the attempts under way. It returns earlier
// only with an error: another run forwards to a target, the relay refuses the stream, the
// state cannot be written, or OnAttempt failed.
func Run(ctx context.Context, config Config) (Result, error) {
	f := &forwarder{Config: config}
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range config.Targets {
		l := &loop{forwarder: f, target: t, shown: Shown(t.URL), state: stateOf(config.State, config.Relay, t.URL)}
		group.Go(func() error {
			if err := l.run(ctx); err != nil {
				return fmt.Errorf("forwarding to %s: %w", l.shown, err)
			}
			return nil
		})
	}
	err := group.Wait()
	return f.result, err
}

// forwarder is what the loops of a run share.
type forwarder struct {
	Config

	mu     sync.Mutex // guards the result, and is held during a callback
	result Result
}

// loop delivers to one target. Its methods run in the one goroutine of its source.
type loop struct {
	*forwarder
	target Target
	shown  api.Text
	state  state
	source Source
	stop   context.CancelFunc // of run
	failed error              // why it stopped early

	at      string // the cursor after what was taken or given up
	saved   string // the cursor on disk
	savedAt time.Time
	lostTo  int64 // of the latest gap
}

func (l *loop) run(ctx context.Context) error {
	return durable.Exclusively(ctx, l.state.file("cursor"), lockWithin, func() (err error) {
		if l.saved, err = l.state.cursor(); err != nil {
			return err
		}
		if l.source, err = l.Subscribe(l.target, l.saved); err != nil {
			return err
		}
		ctx, l.stop = context.WithCancel(ctx)
		defer l.stop()
		return errors.Join(l.source.Run(ctx, l), l.failed)
	})
}

// fail ends the loop after an error: the stream would bring the same events again.
func (l *loop) fail(err error) error {
	if err != nil {
		l.failed = err
		l.stop()
	}
	return err
}

// save saves the cursor.
func (l *loop) save() error {
	if l.at == l.saved {
		return nil
	}
	l.saved, l.savedAt = l.at, time.Now()
	return l.fail(l.state.pass(l.at))
}

// Events implements [relay.Handler]. It returns once each event was taken or given up: the
// relay keeps what comes meanwhile. The cursor is saved after all of them, before each
// pause and every second: a kill repeats no more.
func (l *loop) Events(ctx context.Context, batch []relay.Item) error {
	epoch := l.source.Status().Epoch
	for i, item := range batch {
		if err := l.deliver(ctx, item, item.Cursor(epoch)); err != nil {
			l.mu.Lock()
			l.result.Waiting += len(batch) - i
			l.mu.Unlock()
			return errors.Join(err, l.save())
		}
	}
	return l.save()
}

// Status implements [relay.Handler]. At the start of the stream, and past events of other
// types, the cursor moves without an event.
func (l *loop) Status(s relay.Status) {
	if l.failed == nil && (s.State == relay.Replaying || s.State == relay.Live) {
		l.at = l.source.Cursor()
		_ = l.save() // an error ends the loop
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.LostTo != l.lostTo && s.LostFrom > 0 {
		l.result.Lost += s.LostTo - s.LostFrom + 1
	}
	l.lostTo = s.LostTo
	l.OnStatus(l.shown, s)
}

// deliver sends an event until the target takes it, it is given up or ctx ends.
func (l *loop) deliver(ctx context.Context, item relay.Item, cursor string) error {
	a := Attempt{Item: item, Target: l.target.URL, Cursor: cursor, Delivery: NewDelivery(l.target.URL, item)}
	d, pauses := &a.Delivery, newPauses()
	for began := time.Now(); ctx.Err() == nil; {
		// What has begun is finished: the target may have taken it.
		*d = l.Sender.Send(context.WithoutCancel(ctx), a.Target, item, *d)
		left, pause := l.GiveUp-time.Since(began), max(pauses.NextBackOff(), askedPause(d))
		err := error(nil)
		switch {
		case d.State == delivery.Delivered:
			if l.at = cursor; time.Since(l.savedAt) > saveWithin {
				err = l.save()
			}
		case left > 0:
			pause = min(pause, left)
			d.Next = time.Now().Add(pause)
			err = l.save()
		default:
			d.State = delivery.Dead
			if err = l.fail(l.state.bury(a)); err == nil {
				l.at = cursor
				err = l.save()
			}
		}
		if err == nil {
			err = l.report(a)
		}
		if err != nil || d.State != delivery.Waiting {
			return err
		}
		_ = api.Sleep(ctx, pause) // the end of ctx ends the loop
	}
	return ctx.Err()
}

func (l *loop) report(a Attempt) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Delivery.State == delivery.Dead {
		l.result.Dead++
	}
	return l.fail(l.OnAttempt(a))
}

// newPauses are the pauses between the attempts of an event.
func newPauses() *backoff.ExponentialBackOff {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: firstPause, MaxInterval: lastPause, Multiplier: 2, RandomizationFactor: 1. / 3,
	}
	pauses.Reset()
	return pauses
}

// askedPause is how long the target's answer asks to be left alone.
func askedPause(d *delivery.Delivery) time.Duration {
	asked, _ := quota.RetryAfter(d.Answer.Header, time.Now())
	return asked
}
