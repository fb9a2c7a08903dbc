package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
)

// How long changes are gathered before they are shown. While more come than
// anybody can read, as when a history loads, fewer frames show them.
const (
	frame        = 33 * time.Millisecond
	crowdedFrame = 100 * time.Millisecond
	crowd        = 64 // events, or intents, in either
)

// changesMsg brings what changed in the picture.
type changesMsg struct{ account.Changes }

// Run shows the dashboard on the terminal behind in and out until the user quits
// or ctx ends, and leaves the terminal as it was. A confirm that is under way is
// waited for. It returns nil in both cases.
func Run(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := New(cfg)
	m.ctx, m.awaited = ctx, true
	// Signals are the caller's: they end ctx. Were both to hear them, the library's
	// handler could wait for ever for a loop that the end of ctx has ended.
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()}
	if cfg.Width > 0 && cfg.Height > 0 {
		options = append(options, tea.WithWindowSize(cfg.Width, cfg.Height))
	}
	program := tea.NewProgram(m, options...)
	m.frames = &frames{program: program}
	defer m.frames.stop()

	var pumping sync.WaitGroup
	var pumpErr error
	pumping.Go(func() {
		if pumpErr = pump(ctx, m.cfg.Source, func(c account.Changes) { program.Send(changesMsg{c}) }); pumpErr != nil {
			program.Quit()
		}
	})
	_, err := program.Run()
	ended := ctx.Err() != nil
	cancel()
	pumping.Wait()
	m.confirms.Wait()
	switch {
	case pumpErr != nil:
		return pumpErr
	case err == nil, errors.Is(err, tea.ErrInterrupted), ended && errors.Is(err, tea.ErrProgramKilled):
		return nil
	}
	return fmt.Errorf("drawing the dashboard: %w", err)
}

// pump is the one sender: it waits for changes, gathers them for a frame and
// sends them as one message.
func pump(ctx context.Context, source Source, send func(account.Changes)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading the picture: panic: %v", r)
		}
	}()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for since := uint64(0); ; {
		changes := source.Changes(since)
		pace := paceAfter(&changes)
		since = changes.Version
		send(changes)
		pause.Reset(pace)
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
		if err := source.Wait(ctx, since); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("waiting for changes: %w", err)
		}
	}
}

// paceAfter is how long to gather what comes after c.
func paceAfter(c *account.Changes) time.Duration {
	if !c.Whole && (len(c.Events)+c.EventsSkipped > crowd || len(c.Intents) > crowd) {
		return crowdedFrame
	}
	return frame
}
