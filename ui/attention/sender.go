package attention

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/process"
)

// Notice is an alert as a program gets it. It holds nothing of buyers.
type Notice struct {
	account.Alert
	Environment string `json:"environment"`
	Live        bool   `json:"live"` // real money may move
	Account     string `json:"account"`
	Over        bool   `json:"over,omitempty"` // it has ended
}

// Config configures a [Sender]. Everything but Live and Timeout is required.
type Config struct {
	Command     []string               // program and arguments
	Environ     []string               // of the program: without keys and tokens
	Live        bool                   // it may run where money is real
	Timeout     time.Duration          // of one run; 0: 10 s
	Source      account.Picture        // whose alerts are sent
	File        *File                  // says what is muted
	Environment func() api.Environment // the service's, as currently known
	Account     string                 // its host
	Report      func(error)            // gets the current failure; nil once there is none
}

// Sender runs a program for each alert, and again when the alert has ended.
type Sender struct {
	cfg    Config
	told   map[Key]account.Alert // given to the program, and not yet over
	queue  chan Notice
	failed int // notices that the program did not take
}

const (
	mostWaiting = 16                     // notices; what does not fit is looked at again
	look        = 500 * time.Millisecond // at most this often
	again       = 15 * time.Second       // at least this often, for muted alerts
	endsWithin  = time.Second            // how long a program that is too slow may take to end
)

// NewSender makes a sender; [Sender.Run] runs it.
func NewSender(cfg Config) *Sender {
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	return &Sender{cfg: cfg, told: map[Key]account.Alert{}, queue: make(chan Notice, mostWaiting)}
}

// Run sends alerts until ctx ends.
func (s *Sender) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.follow(ctx) })
	group.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case n := <-s.queue:
				s.send(ctx, n)
			}
		}
	})
	return group.Wait()
}

// follow queues what is new in the picture.
func (s *Sender) follow(ctx context.Context) error {
	for since := uint64(0); ; {
		c := s.cfg.Source.Changes(since)
		since = c.Version
		s.offer(c.Summary.Alerts, time.Now())
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

// offer queues the alerts that the program does not know, and the ends of those that it knows.
// A muted alert waits for the end of the mute.
func (s *Sender) offer(alerts []account.Alert, now time.Time) {
	muted, _ := s.cfg.File.Load() // the screen reports a file that cannot be read; it mutes nothing
	stands := map[Key]bool{}
	for _, a := range alerts {
		key := KeyOf(a)
		stands[key] = true
		off, ok := muted.OffOf(a, now)
		if _, told := s.told[key]; told || a.Kind == account.AlertSending || ok && !off.Until.IsZero() {
			continue
		}
		if s.queued(a, false) {
			s.told[key] = a
		}
	}
	for key, a := range s.told {
		if !stands[key] && s.queued(a, true) {
			delete(s.told, key)
		}
	}
}

func (s *Sender) queued(a account.Alert, over bool) bool {
	if err := s.allowed(); err != nil {
		s.report(err)
		return false
	}
	a.Text, a.Cause, a.Intent = string(api.Scrub(a.Text)), string(api.Scrub(a.Cause)), api.ScrubID(string(a.Intent))
	a.Since, a.Due = a.Since.UTC(), a.Due.UTC()
	from := s.cfg.Environment()
	n := Notice{a, string(api.Scrub(from.Name)), from.Live, string(api.Scrub(s.cfg.Account)), over}
	select {
	case s.queue <- n:
		return true
	default:
		return false
	}
}

// allowed refuses to run the program where money is real, unless the configuration says so.
func (s *Sender) allowed() error {
	if s.cfg.Environment().Live && !s.cfg.Live {
		return errors.New("it does not run where money is real: set alert_command_live = true to allow that")
	}
	return nil
}

// send runs the program with a notice on its stdin.
func (s *Sender) send(ctx context.Context, n Notice) {
	err := s.allowed()
	if err == nil {
		err = s.start(ctx, n)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.failed++
		s.report(fmt.Errorf("%w (%d not sent)", err, s.failed))
	default:
		s.cfg.Report(nil)
	}
}

func (s *Sender) report(err error) {
	s.cfg.Report(fmt.Errorf("%s gets no alerts: %w", api.Scrub(filepath.Base(s.cfg.Command[0])), err))
}

// start waits for the program. It goes through no shell, and what it prints goes nowhere: a screen
// is drawn there. One that does not end in time is ended with all that it started.
func (s *Sender) start(ctx context.Context, n Notice) error {
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("writing the alert: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	command := exec.CommandContext(ctx, s.cfg.Command[0], s.cfg.Command[1:]...)
	command.Env, command.Stdin, command.WaitDelay = s.cfg.Environ, bytes.NewReader(append(body, '\n')), endsWithin
	process.Apart(command, endsWithin)
	err = command.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it did not end within %s", s.cfg.Timeout)
	case err != nil:
		return fmt.Errorf("it failed: %w", err)
	}
	return nil
}
