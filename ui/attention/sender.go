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

// Config configures a [Sender]. Everything but Location is required.
type Config struct {
	Destinations []Destination
	Source       account.Picture // whose alerts are sent
	File         *File
	Environment  func() api.Environment // the service's, as currently known
	Account      string                 // its host
	Environ      []string               // for programs: without keys and tokens
	Report       func(error)            // gets the current failure; nil once there is none
	Location     *time.Location         // for times in texts; nil: time.Local
}

// Sender sends each alert once to each destination that takes its kind, from
// whichever process on the shared file sees it first.
type Sender struct {
	cfg     Config
	workers []*worker

	mu       sync.Mutex
	troubles map[*worker]trouble
}

// trouble is a destination's current failure.
type trouble struct {
	words   string // the last failure; "" after a success
	dropped int    // unsent notices since the start
}

// worker sends the notices for one destination, one after another.
type worker struct {
	destination Destination
	queue       chan Notice

	mu      sync.Mutex
	handled map[Key]time.Time // handled alerts that are still raised; when to check again, zero: never
}

// waiting limits one destination's queue.
const waiting = 64

const (
	look  = 500 * time.Millisecond // at most this often
	again = 15 * time.Second       // at least this often, for muted alerts
	// endAfter is how long a run takes to raise earlier alerts again.
	endAfter = time.Minute
)

// NewSender makes a sender; [Sender.Run] runs it.
func NewSender(cfg Config) *Sender {
	if cfg.Location == nil {
		cfg.Location = time.Local
	}
	s := &Sender{cfg: cfg, troubles: map[*worker]trouble{}}
	for _, destination := range cfg.Destinations {
		s.workers = append(s.workers, &worker{destination: destination, queue: make(chan Notice, waiting), handled: map[Key]time.Time{}})
	}
	return s
}

// Run sends alerts until ctx ends. Another run sends those still queued, if they are
// still raised.
func (s *Sender) Run(ctx context.Context) error {
	if len(s.workers) == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range s.workers {
		group.Go(func() error { return s.work(ctx, w) })
	}
	group.Go(func() error { return s.follow(ctx) })
	return group.Wait()
}

// follow queues the picture's alerts.
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
		if time.Since(began) > endAfter { // an alert that is over is sent again when it comes back
			_ = s.cfg.File.end(ctx, stands) // claims report an unreadable file
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

// offer queues alerts that nobody has handled. A full queue drops them and reports
// that.
func (s *Sender) offer(alerts []account.Alert, stands map[Key]bool, now time.Time) {
	for _, w := range s.workers {
		for _, a := range alerts {
			if !w.destination.takes(a) || !w.take(KeyOf(a), now) {
				continue
			}
			select {
			case w.queue <- NoticeOf(a, s.cfg.Environment(), s.cfg.Account, s.cfg.Location):
			default:
				s.report(w, "too many are queued", 1)
			}
		}
		w.forget(stands)
	}
}

// take reports whether to handle an alert now.
func (w *worker) take(key Key, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, handled := w.handled[key]
	if handled && (at.IsZero() || now.Before(at)) {
		return false
	}
	w.handled[key] = time.Time{}
	return true
}

// later checks an alert again at a time, if it is still raised.
func (w *worker) later(key Key, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handled[key] = at
}

func (w *worker) forget(stands map[Key]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.handled, func(key Key, _ time.Time) bool { return !stands[key] })
}

// work sends one destination's queue.
func (s *Sender) work(ctx context.Context, w *worker) error {
	destination := w.destination.fingerprint()
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-w.queue:
			s.send(ctx, w, destination, n)
		}
	}
}

func (s *Sender) send(ctx context.Context, w *worker, destination string, n Notice) {
	now := time.Now()
	if w.destination.Held(n) {
		w.later(KeyOf(n.alert), now.Add(again))
		s.report(w, HeldWords, 0)
		return
	}
	granted, later, err := s.cfg.File.claim(ctx, n, destination, now)
	switch {
	case err != nil:
		w.later(KeyOf(n.alert), now.Add(again))
		s.report(w, "what was already sent is unknown: "+err.Error(), 0)
		return
	case !later.IsZero():
		w.later(KeyOf(n.alert), later)
		return
	case !granted:
		return
	}
	err = w.destination.insist(ctx, n, s.cfg.Environ)
	switch {
	case err == nil:
		s.report(w, "", 0)
	case ctx.Err() != nil:
		_ = s.cfg.File.release(context.WithoutCancel(ctx), n, destination) // another run sends it
	default:
		s.report(w, err.Error(), 1)
	}
}

// report reports a destination's failure, "" for a success, and how many notices were
// not sent because of it.
func (s *Sender) report(w *worker, words string, dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.troubles[w]
	if t.words == words && dropped == 0 {
		return
	}
	t.words, t.dropped = words, t.dropped+dropped
	s.troubles[w] = t
	var all []string
	for _, w := range s.workers {
		if t := s.troubles[w]; t.words != "" {
			text := w.destination.Name() + " gets no alerts: " + t.words
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
