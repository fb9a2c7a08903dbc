package attention

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

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

// Sender runs a program for each alert, one after another, and again when the alert has ended.
// Everything but Live and Timeout is required.
type Sender struct {
	Command     []string               // program and arguments
	Environ     []string               // of the program: without keys and tokens
	Live        bool                   // it may run where money is real
	Timeout     time.Duration          // of one run; 0: 10 s
	Source      account.Picture        // whose alerts are sent
	File        *File                  // says what is muted
	Environment func() api.Environment // the service's, as currently known
	Account     string                 // its host
	Report      func(error)            // gets the current failure; nil once there is none

	told   map[Key]account.Alert // given to the program, and not yet over
	failed int                   // notices that the program did not take
}

const (
	look       = 500 * time.Millisecond // at most this often
	again      = 15 * time.Second       // at least this often, for muted alerts
	endsWithin = time.Second            // how long a program that is too slow may take to end
)

// Run sends alerts until ctx ends. What begins and ends while the program runs for others is not
// sent.
func (s *Sender) Run(ctx context.Context) error {
	s.told = map[Key]account.Alert{}
	for since := uint64(0); ctx.Err() == nil; {
		c := s.Source.Changes(since)
		since = c.Version
		if n, more := s.next(c.Summary.Alerts, time.Now()); more {
			s.send(ctx, n)
			continue
		}
		wait, cancel := context.WithTimeout(ctx, again)
		err := s.Source.Wait(wait, since)
		cancel()
		if err != nil && wait.Err() == nil {
			return fmt.Errorf("waiting for alerts: %w", err)
		}
		_ = api.Sleep(ctx, look)
	}
	return nil
}

// next returns an alert that the program does not know, or else one that it knows and that has
// ended. A muted alert waits for the end of the mute.
func (s *Sender) next(alerts []account.Alert, now time.Time) (n Notice, ok bool) {
	muted, _ := s.File.Load() // the screen reports a file that cannot be read; it mutes nothing
	stands := map[Key]bool{}
	for _, a := range alerts {
		key := KeyOf(a)
		stands[key] = true
		off, isOff := muted.OffOf(a, now)
		if _, told := s.told[key]; told || a.Kind == account.AlertSending || isOff && !off.Until.IsZero() {
			continue
		}
		if s.refused() {
			return n, false
		}
		s.told[key] = a
		return s.notice(a, false), true
	}
	for key, a := range s.told {
		if !stands[key] && !s.refused() {
			delete(s.told, key)
			return s.notice(a, true), true
		}
	}
	return n, false
}

// refused reports that the program must not run where money is real, unless the settings say so.
func (s *Sender) refused() bool {
	if s.Live || !s.Environment().Live {
		return false
	}
	s.report(errors.New("it does not run where money is real: set alert_command_live = true to allow that"))
	return true
}

func (s *Sender) notice(a account.Alert, over bool) Notice {
	a.Text, a.Cause, a.Intent = string(api.Scrub(a.Text)), string(api.Scrub(a.Cause)), api.ScrubID(string(a.Intent))
	a.Since, a.Due = a.Since.UTC(), a.Due.UTC()
	from := s.Environment()
	return Notice{a, string(api.Scrub(from.Name)), from.Live, string(api.Scrub(s.Account)), over}
}

func (s *Sender) send(ctx context.Context, n Notice) {
	switch err := s.start(ctx, n); {
	case ctx.Err() != nil:
	case err != nil:
		s.failed++
		s.report(fmt.Errorf("%w (%d not sent)", err, s.failed))
	default:
		s.Report(nil)
	}
}

func (s *Sender) report(err error) {
	s.Report(fmt.Errorf("%s gets no alerts: %w", api.Scrub(filepath.Base(s.Command[0])), err))
}

// start runs the program with a notice on its stdin, and waits for it. It goes through no shell,
// and what it prints goes nowhere: a screen is drawn there. One that does not end in time is ended
// with all that it started.
func (s *Sender) start(ctx context.Context, n Notice) error {
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("writing the alert: %w", err)
	}
	timeout := cmp.Or(s.Timeout, 10*time.Second)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	command := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	command.Env, command.Stdin, command.WaitDelay = s.Environ, bytes.NewReader(append(body, '\n')), endsWithin
	process.Apart(command, endsWithin)
	if err = command.Run(); errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it did not end within %s", timeout)
	}
	if err != nil {
		return fmt.Errorf("it failed: %w", err)
	}
	return nil
}
