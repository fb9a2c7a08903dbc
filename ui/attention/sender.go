package attention

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tillwatch/api"
	"tillwatch/api/account"
)

// Source is the picture whose alerts go out; [account.Store] is one.
type Source interface {
	Changes(since uint64) account.Changes
	Wait(ctx context.Context, since uint64) error
}

// Config sets a [Sender] up. All but Location is required.
type Config struct {
	Ways        []Way
	Source      Source
	File        *File
	Environment func() api.Environment // of the service, as it is known now
	Account     string                 // its host
	Environ     []string               // of the programs: without keys and tokens
	Report      func(error)            // gets what goes wrong as a whole; nil once nothing does
	Location    *time.Location         // of times in a text; nil: time.Local
}

// Sender sends each alert once by each way that takes its kind, whichever of the
// processes that share the file sees it first.
type Sender struct {
	cfg   Config
	lanes []*lane

	mu       sync.Mutex
	troubles map[*lane]trouble
}

// trouble is what goes wrong on one way.
type trouble struct {
	words   string // of the last failure; "" once one got through
	dropped int    // notices since the start that were not sent
}

// lane sends what goes one way, one after another.
type lane struct {
	way   Way
	queue chan Notice

	mu   sync.Mutex
	told map[Key]time.Time // what stands and was taken care of; when to ask again, zero: not
}

// waiting bounds what waits on one way.
const waiting = 64

const (
	look  = 500 * time.Millisecond // at most so often is the picture looked at
	again = 15 * time.Second       // and at least so often, for what was muted
	// endAfter is how long a run takes to raise again what was raised before it.
	endAfter = time.Minute
)

// NewSender makes a sender; [Sender.Run] runs it.
func NewSender(cfg Config) *Sender {
	if cfg.Location == nil {
		cfg.Location = time.Local
	}
	s := &Sender{cfg: cfg, troubles: map[*lane]trouble{}}
	for _, way := range cfg.Ways {
		s.lanes = append(s.lanes, &lane{way: way, queue: make(chan Notice, waiting), told: map[Key]time.Time{}})
	}
	return s
}

// Run sends alerts until ctx ends. What waits then is not sent; another run sends it
// if it still stands.
func (s *Sender) Run(ctx context.Context) error {
	if len(s.lanes) == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range s.lanes {
		group.Go(func() error { return s.work(ctx, l) })
	}
	group.Go(func() error { return s.follow(ctx) })
	return group.Wait()
}

// follow hands out what the picture raises.
func (s *Sender) follow(ctx context.Context) error {
	began := time.Now()
	for since := uint64(0); ; {
		c := s.cfg.Source.Changes(since)
		since = c.Version
		stands := map[Key]bool{}
		for _, a := range c.Summary.Alerts {
			stands[KeyOf(a)] = true
		}
		s.offer(c.Summary.Alerts, stands, time.Now())
		if time.Since(began) > endAfter { // what is over is sent when it comes anew
			_ = s.cfg.File.end(ctx, stands) // a claim tells of a file that cannot be read
		}
		if api.Sleep(ctx, look) != nil {
			return nil
		}
		wait, cancel := context.WithTimeout(ctx, again)
		err := s.cfg.Source.Wait(wait, since)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("waiting for alerts: %w", err)
		}
	}
}

// offer puts alerts that nobody took care of into the queues. A full queue drops
// them, and that is said.
func (s *Sender) offer(alerts []account.Alert, stands map[Key]bool, now time.Time) {
	for _, l := range s.lanes {
		for _, a := range alerts {
			if !l.way.takes(a) || !l.take(KeyOf(a), now) {
				continue
			}
			select {
			case l.queue <- NoticeOf(a, s.cfg.Environment(), s.cfg.Account, s.cfg.Location):
			default:
				s.tell(l, "too many are queued", 1)
			}
		}
		l.forget(stands)
	}
}

// take reports whether an alert is to be taken care of now.
func (l *lane) take(key Key, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, told := l.told[key]
	if told && (at.IsZero() || now.Before(at)) {
		return false
	}
	l.told[key] = time.Time{}
	return true
}

// later has an alert asked for again at a time, if it still stands.
func (l *lane) later(key Key, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[key] = at
}

func (l *lane) forget(stands map[Key]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.told, func(key Key, _ time.Time) bool { return !stands[key] })
}

// work sends what comes on one way.
func (s *Sender) work(ctx context.Context, l *lane) error {
	way := l.way.fingerprint()
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-l.queue:
			s.send(ctx, l, way, n)
		}
	}
}

func (s *Sender) send(ctx context.Context, l *lane, way string, n Notice) {
	now := time.Now()
	if l.way.Held(n) {
		l.later(KeyOf(n.alert), now.Add(again))
		s.tell(l, HeldWords, 0)
		return
	}
	granted, later, err := s.cfg.File.claim(ctx, n, way, now)
	switch {
	case err != nil:
		l.later(KeyOf(n.alert), now.Add(again))
		s.tell(l, "what was already sent is unknown: "+err.Error(), 0)
		return
	case !later.IsZero():
		l.later(KeyOf(n.alert), later)
		return
	case !granted:
		return
	}
	err = l.way.insist(ctx, n, s.cfg.Environ)
	switch {
	case err == nil:
		s.tell(l, "", 0)
	case ctx.Err() != nil:
		_ = s.cfg.File.release(context.WithoutCancel(ctx), n, way) // another run sends it
	default:
		s.tell(l, err.Error(), 1)
	}
}

// tell says what goes wrong on a way, "" where something got through, and how many
// notices were not sent because of it.
func (s *Sender) tell(l *lane, words string, dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.troubles[l]
	if t.words == words && dropped == 0 {
		return
	}
	t.words, t.dropped = words, t.dropped+dropped
	s.troubles[l] = t
	var all []string
	for _, l := range s.lanes {
		if t := s.troubles[l]; t.words != "" {
			text := l.way.Name() + " gets no alerts: " + t.words
			if t.dropped > 0 {
				text += fmt.Sprintf(" (%d not sent)", t.dropped)
			}
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		s.cfg.Report(nil)
		return
	}
	s.cfg.Report(errors.New(strings.Join(all, "; ")))
}
