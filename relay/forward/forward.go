// Package forward delivers the events of a relay to other endpoints, as the service
// delivers them to the relay: each at least once, those of one source in order.
//
// A [Forwarder] has a worker for each target. A worker reads the relay's stream and keeps
// each event on disk, with the cursor, until the target has taken it. While an event is
// not taken, later ones of its source wait; those of other sources go on.
package forward

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// Bounds of one target.
const (
	atOnce   = 16       // concurrent attempts
	maxHeld  = 20_000   // events waiting on disk: the relay keeps the others
	maxKept  = 1_000    // deliveries in the log, of all targets together
	keptBody = 64 << 10 // bytes of a body in the log
)

// GiveUp is for how long an event is tried by default.
const GiveUp = 24 * time.Hour

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

// Config configures a [Forwarder].
type Config struct {
	State     string // path of the file with the cursors and the events not yet taken
	Targets   []Target
	Sender    Sender
	GiveUp    time.Duration // for how long an event is tried; 0: [GiveUp]
	Challenge bool          // each target must answer a challenge before it gets events

	// Subscribe opens the stream for a target after cursor; "" means no cursor yet.
	Subscribe func(t Target, cursor string) (Source, error)

	// Callbacks, which may be nil. They are called one at a time, and the worker waits for
	// them.
	Attempted func(Held)                                         // after each attempt
	Status    func(target api.Text, s relay.Status, waiting int) // of a target's stream; Live is reported again once nothing waits
}

// Forwarder forwards events. Only one at a time can use a state.
type Forwarder struct {
	config    Config
	lock      *flock.Flock
	state     *State
	workers   []*worker
	log       *delivery.Log
	reporting sync.Mutex    // held while a callback runs
	ended     chan struct{} // closed once nothing more is sent
}

// Open locks and opens the state. [Forwarder.Close] releases it.
func Open(config Config) (*Forwarder, error) {
	if config.GiveUp == 0 {
		config.GiveUp = GiveUp
	}
	f := &Forwarder{config: config, log: delivery.NewLog(maxKept), ended: make(chan struct{})}
	var err error
	if f.state, err = OpenState(config.State); err != nil {
		return nil, err
	}
	if f.lock, err = claim(config.State+".lock", "forwards events already: end it, or keep another state"); err != nil {
		return nil, errors.Join(err, f.state.Close())
	}
	for _, t := range config.Targets {
		w, err := f.openWorker(t)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.workers = append(f.workers, w)
	}
	return f, nil
}

// Close releases the state. The next forwarder sends again what was not committed.
func (f *Forwarder) Close() error { return errors.Join(f.state.Close(), f.lock.Close()) }

// claim locks a state until the process ends, and writes the process id into the lock
// file, for the error of others, which says what the process does.
func claim(path, does string) (*flock.Flock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock the state of forwarding: %w", err)
	case !locked:
		holder := "another process"
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			holder = "process " + strings.TrimSpace(string(text))
		}
		return nil, fmt.Errorf("%s %s", api.Scrub(holder), does)
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the state of forwarding: %w", err), lock.Close())
	}
	return lock, nil
}

// Run forwards until ctx ends, and then waits for the attempts under way. It returns
// earlier only with an error: the relay refuses the token, or the state cannot be
// written.
func (f *Forwarder) Run(ctx context.Context) error {
	defer close(f.ended)
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range f.workers {
		group.Go(func() error { return w.run(ctx) })
	}
	return group.Wait()
}

// Left counts the events that wait for a target, and the dead ones.
func (f *Forwarder) Left() (waiting, dead int, err error) {
	waiters, given, err := f.state.counts()
	for _, w := range f.workers {
		waiting, dead = waiting+waiters[w.target.URL], dead+given[w.target.URL]
	}
	return waiting, dead, err
}

// Elsewhere counts the waiting events of targets in the state that are not configured.
func (f *Forwarder) Elsewhere() (map[api.Text]int, error) {
	waiting, _, err := f.state.counts()
	for _, w := range f.workers {
		delete(waiting, w.target.URL)
	}
	others := map[api.Text]int{}
	for target, n := range waiting {
		others[Shown(target)] += n
	}
	return others, err
}

// Deliveries returns the log of the latest deliveries: at most 1,000, each with at most
// 64 KiB of the body.
func (f *Forwarder) Deliveries() *delivery.Log { return f.log }

// errNotAgain is returned for a delivery that is no longer in the log.
var errNotAgain = errors.New("this delivery is no longer kept: send the event with tillwatch events resend")

// Again sends a delivery of the log again, whatever its state. It returns once the
// attempt is under way; its outcome goes to the log.
func (f *Forwarder) Again(ctx context.Context, id api.ID) error {
	d, ok := f.log.Find(id)
	if !ok {
		return errNotAgain
	}
	for _, w := range f.workers {
		if w.idOf(d.Event) != id {
			continue
		}
		asked := request{*d, make(chan error, 1)}
		select {
		case w.requests <- asked:
			return <-asked.answer
		case <-f.ended:
			return errors.New("forwarding has ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errNotAgain
}

// note puts a delivery into the log.
func (f *Forwarder) note(d delivery.Delivery) {
	if len(d.Request.Body) > keptBody {
		d.Request.Body = d.Request.Body[:keptBody:keptBody]
	}
	f.log.Put(d)
}

// report puts the outcome of an attempt into the log and calls Attempted.
func (f *Forwarder) report(h Held) {
	f.note(h.Delivery)
	if f.config.Attempted != nil {
		f.reporting.Lock()
		defer f.reporting.Unlock()
		f.config.Attempted(h)
	}
}

// deliveryID names the delivery of an event to a target.
func deliveryID(event api.ID, target string) api.ID {
	sum := sha256.Sum256([]byte(target))
	return api.ScrubID(string(event) + "~" + hex.EncodeToString(sum[:4]))
}
