package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/canvas"
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
	m.ctx, m.awaited, m.job = ctx, true, newJob(ctx)
	program := m.program(in, out)
	m.frames = &frames{program: program}
	defer m.frames.stop()

	var pumping sync.WaitGroup
	size := sizeMsg{m.width, m.height}
	pumping.Go(func() { followSize(ctx, out, size, func(now sizeMsg) { program.Send(now) }) })
	pumping.Go(func() { m.job.follow(func() { program.Send(continuedMsg{}) }) })
	var pumpErr error
	pumping.Go(func() {
		if pumpErr = pump(ctx, m.cfg.Source, func(c account.Changes) { program.Send(changesMsg{c}) }); pumpErr != nil {
			program.Quit()
		}
	})
	err, left := play(ctx, program, in)
	ended := ctx.Err() != nil
	if m.canvas != nil && left {
		m.canvas.Close()
	}
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

// stuckAfter is how long a terminal that takes nothing holds up the end.
const stuckAfter = 2 * time.Second

// play runs the program and reports whether it has left the screen. Where the
// terminal takes nothing any more the program waits for it, for ever: once ctx has
// ended it is left behind with that, and only the terminal's modes are as before.
func play(ctx context.Context, program *tea.Program, in io.Reader) (err error, left bool) {
	restore := keepModes(in)
	ran := make(chan error, 1)
	go func() {
		_, err := program.Run() // it recovers its panics
		ran <- err
	}()
	select {
	case err = <-ran:
		return err, true
	case <-ctx.Done():
	}
	stuck := time.NewTimer(stuckAfter)
	defer stuck.Stop()
	select {
	case err = <-ran:
		return err, true
	case <-stuck.C:
		restore()
		return nil, false
	}
}

// program runs the model on a canvas of its own.
func (m *Model) program(in io.Reader, out io.Writer) *tea.Program {
	// Signals are the caller's: they end the context. Were both to hear them, the
	// library's handler could wait for ever for a loop that its end has ended.
	options := []tea.ProgramOption{tea.WithContext(m.ctx), tea.WithInput(in), tea.WithoutSignalHandler()}
	if !canvasPossible {
		if m.cfg.Width > 0 && m.cfg.Height > 0 {
			options = append(options, tea.WithWindowSize(m.cfg.Width, m.cfg.Height))
		}
		return tea.NewProgram(m, append(options, tea.WithOutput(out))...)
	}
	profile := colorprofile.Detect(out, os.Environ())
	m.canvas = canvas.New(canvas.Config{Out: out, Environ: os.Environ(), ReturnNewlines: !isTerminal(in)})
	size, known := sizeOf(out)
	if !known {
		size = sizeMsg{m.cfg.Width, m.cfg.Height}
	}
	m.resize(size)
	return tea.NewProgram(m, append(options, tea.WithOutput(m.canvas), tea.WithColorProfile(profile),
		tea.WithWindowSize(librarySize, librarySize), tea.WithFilter(keepSizes))...)
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
