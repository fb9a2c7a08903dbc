// Package forward delivers the events of a relay to other endpoints, as the service
// delivers them to the relay: each at least once, those of one source in order.
//
// A [Forwarder] has a lane for each target. It reads the relay's stream and keeps what
// it reads on disk, with the cursor behind it, until the target has taken it. Behind an
// event that is not taken the later ones of its source wait; those of other sources go on.
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
	atOnce   = 16     // attempts under way
	maxHeld  = 20_000 // events that wait on disk: the relay keeps the others
	maxKept  = 1_000  // deliveries that are remembered, of all targets
	keptBody = 64 << 10
)

// GiveUp is how long an event is tried by default.
const GiveUp = 24 * time.Hour

// Target is an endpoint and the types of events that it wants, such as shipment.*; none:
// all.
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

// Config says what is forwarded, and where to.
type Config struct {
	State     string // path of the file that keeps cursors and what was not taken
	Targets   []Target
	Sender    Sender
	GiveUp    time.Duration // how long an event is tried; 0: [GiveUp]
	Challenge bool          // each target has to answer a challenge before it gets events
	Since     time.Time     // skips what was stored before, where there is no cursor yet

	// Subscribe opens the stream for a target, behind cursor; "" for none.
	Subscribe func(t Target, cursor string) (Source, error)

	// Each of these may be nil. They are called one at a time, and hold up what they
	// are told of.
	Tell   func(Held)                                         // what came of an attempt
	Status func(target api.Text, s relay.Status, waiting int) // of the stream for a target; Live again once nothing waits
}

// Forwarder forwards events. One at a time does with a state.
type Forwarder struct {
	config  Config
	lock    *flock.Flock
	state   *State
	lanes   []*lane
	log     *delivery.Log
	telling sync.Mutex
	ended   chan struct{} // closed once nothing more is sent
}

// Open takes the state for a forwarder, which [Forwarder.Close] lets go.
func Open(config Config) (*Forwarder, error) {
	if config.GiveUp == 0 {
		config.GiveUp = GiveUp
	}
	f := &Forwarder{config: config, log: delivery.NewLog(maxKept), ended: make(chan struct{})}
	var err error
	if f.state, err = OpenState(config.State); err != nil {
		return nil, err
	}
	if f.lock, err = claim(config.State + ".lock"); err != nil {
		return nil, errors.Join(err, f.state.Close())
	}
	for _, t := range config.Targets {
		l, err := f.openLane(t)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.lanes = append(f.lanes, l)
	}
	return f, nil
}

// Close lets go of the state. What is not in it was not delivered, as far as the next
// forwarder knows.
func (f *Forwarder) Close() error { return errors.Join(f.state.Close(), f.lock.Close()) }

// claim locks a state until the process ends, and leaves its number for others.
func claim(path string) (*flock.Flock, error) {
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
		return nil, fmt.Errorf("%s forwards events already: end it, or keep another state", api.Scrub(holder))
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the state of forwarding: %w", err), lock.Close())
	}
	return lock, nil
}

// Run forwards until ctx ends, and then lets the attempts end that are under way. It
// returns before only with an error: a relay that refuses the token, a state that
// cannot be written.
func (f *Forwarder) Run(ctx context.Context) error {
	defer close(f.ended)
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range f.lanes {
		group.Go(func() error { return l.run(ctx) })
	}
	return group.Wait()
}

// Left counts the events that wait for a target, and those among the dead.
func (f *Forwarder) Left() (waiting, dead int, err error) {
	waits, given, err := f.state.Counts()
	for _, l := range f.lanes {
		waiting, dead = waiting+waits[l.target.URL], dead+given[l.target.URL]
	}
	return waiting, dead, err
}

// Elsewhere counts the events that wait for targets that nothing is sent to.
func (f *Forwarder) Elsewhere() (map[api.Text]int, error) {
	waiting, _, err := f.state.Counts()
	for _, l := range f.lanes {
		delete(waiting, l.target.URL)
	}
	others := map[api.Text]int{}
	for target, n := range waiting {
		others[Shown(target)] += n
	}
	return others, err
}

// Deliveries are those that changed last: at most 1,000, of which each keeps no more
// than 64 KiB of the body.
func (f *Forwarder) Deliveries() *delivery.Log { return f.log }

// errNotAgain is of a delivery that nothing is known of any more.
var errNotAgain = errors.New("this delivery is no longer kept: send the event with tillwatch events resend")

// Again sends a delivery of the log again, whatever became of it. It returns once that
// is on its way; the log tells what comes of it.
func (f *Forwarder) Again(ctx context.Context, id api.ID) error {
	d, ok := f.log.Find(id)
	if !ok {
		return errNotAgain
	}
	for _, l := range f.lanes {
		if l.idOf(d.Event) != id {
			continue
		}
		asked := request{*d, make(chan error, 1)}
		select {
		case l.requests <- asked:
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

// tell tells what came of an attempt.
func (f *Forwarder) tell(h Held) {
	f.note(h.Delivery)
	if f.config.Tell != nil {
		f.telling.Lock()
		defer f.telling.Unlock()
		f.config.Tell(h)
	}
}

// DeliveryID names the delivery of an event to a target.
func DeliveryID(event api.ID, target string) api.ID {
	sum := sha256.Sum256([]byte(target))
	return api.ScrubID(string(event) + "~" + hex.EncodeToString(sum[:4]))
}
