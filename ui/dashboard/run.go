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
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/canvas"
	"tillwatch/ui/dashboard/job"
)

// frame is how long changes are gathered before they are shown: nobody reads faster.
const frame = 100 * time.Millisecond

// changesMsg brings what changed in the picture.
type changesMsg struct{ account.Changes }

// Run shows the dashboard on the terminal behind in and out until the user quits or ctx
// ends, and restores the terminal. It waits for a running confirm. It returns nil in both
// cases.
func Run(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	return NewScreen(in, out).Show(ctx, cfg)
}

// Screen is a terminal that shows a dashboard.
type Screen struct {
	in     io.Reader
	out    io.Writer
	canvas *canvas.Canvas // nil before Show
	stuck  bool           // the terminal accepts no more output
}

// NewScreen returns the screen of the terminal behind in and out, which it does not touch.
func NewScreen(in io.Reader, out io.Writer) *Screen { return &Screen{in: in, out: out} }

// Stuck reports whether the terminal accepted no more output at the end: writing to it would
// block for ever.
func (s *Screen) Stuck() bool { return s.stuck }

// Show is [Run] on this screen.
func (s *Screen) Show(ctx context.Context, cfg Config) error {
	in, out := s.in, s.out
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := New(cfg)
	m.ctx, m.awaited, m.job = ctx, true, job.New(ctx)
	m.job.NoShell = !job.IsTerminal(in) || !job.InForeground(in)
	program := m.program(s)

	var pumping sync.WaitGroup
	size := tea.WindowSizeMsg{Width: m.width, Height: m.height}
	pumping.Go(func() { job.FollowSize(ctx, out, size, func(now tea.WindowSizeMsg) { program.Send(now) }) })
	pumping.Go(func() { m.job.Follow(func() { program.Send(job.ContinuedMsg{}) }) })
	pumping.Go(func() { m.job.FollowQuit(s.canvas.LeaveAtOnce) })
	var pumpErr error
	pumping.Go(func() {
		if m.cfg.Restored != nil {
			pumpErr = m.cfg.Restored()
		}
		if pumpErr == nil {
			pumpErr = pump(ctx, m.cfg.Source, func(c account.Changes) { program.Send(changesMsg{c}) })
		}
		if pumpErr != nil {
			program.Quit()
		}
	})
	err := s.play(ctx, program, m)
	ended := ctx.Err() != nil
	cancel()
	pumping.Wait()
	m.confirms.running.Wait()
	m.work.Wait()
	m.away.seen(m.cfg.Now())
	switch {
	case pumpErr != nil:
		return pumpErr
	case err == nil, errors.Is(err, tea.ErrInterrupted), ended && errors.Is(err, tea.ErrProgramKilled):
		return nil
	}
	return fmt.Errorf("drawing the dashboard: %w", err)
}

// stuckAfter is how long a terminal that accepts no output may delay the end.
const stuckAfter = 2 * time.Second

// play runs the program on its terminal. If the terminal accepts no more output, the
// program waits for ever: once ctx has ended, play abandons it, and restores only the
// keyboard.
func (s *Screen) play(ctx context.Context, program *tea.Program, m *Model) error {
	screen, in := s.canvas, s.in
	ran := make(chan error, 1)
	go func() {
		err := screen.Enter()
		if err == nil {
			err = m.job.Keys.Take()
		}
		if err == nil {
			_, err = program.Run() // recovers panics
			err = errors.Join(err, m.job.Keys.Give())
		}
		ran <- errors.Join(err, screen.Leave())
	}()
	select {
	case err := <-ran:
		return err
	case <-ctx.Done():
	}
	stuck := time.NewTimer(stuckAfter)
	defer stuck.Stop()
	select {
	case err := <-ran:
		return err
	case <-stuck.C:
		s.stuck = true
		if job.InForeground(in) { // otherwise the terminal belongs to the shell
			screen.Abandon()
		}
		return nil
	}
}

// program returns the Bubble Tea program that runs the model. It reads no keys and draws
// nothing: the keyboard and the canvas do.
func (m *Model) program(s *Screen) *tea.Program {
	in, out := s.in, s.out
	environ := m.cfg.Environ
	if environ == nil {
		environ = os.Environ()
	}
	s.canvas = canvas.New(canvas.Config{In: in, Out: out, Environ: environ})
	m.canvas, m.in, m.out = s.canvas, in, out
	m.themes.setProfile(profileOf(out, environ))
	m.restyle()
	size, ok := job.SizeOf(out)
	if !ok {
		size = tea.WindowSizeMsg{Width: m.cfg.Width, Height: m.cfg.Height}
	}
	m.resize(size)
	// The caller handles signals: they end the context. If Bubble Tea handled them as well,
	// its handler could wait for ever for a loop that has ended with the context.
	program := tea.NewProgram(rescued{m}, tea.WithContext(m.ctx), tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithEnvironment(environ),
		tea.WithoutSignalHandler(), tea.WithoutRenderer(), tea.WithFPS(1), tea.WithColorProfile(m.themes.profile), tea.WithWindowSize(size.Width, size.Height))
	m.job.Keys = job.NewKeyboard(in, uv.Environ(environ).Getenv("TERM"), program.Send)
	return program
}

// profileOf returns the colours of a terminal. If out is no file, such as a connection, the
// environment decides.
func profileOf(out io.Writer, environ []string) colorprofile.Profile {
	if _, file := out.(term.File); file {
		return colorprofile.Detect(out, environ)
	}
	return colorprofile.Env(environ)
}

// pump is the only sender of changes: it waits for them, gathers them for a frame and sends
// them as one message.
func pump(ctx context.Context, source account.Picture, send func(account.Changes)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading the picture: panic: %v", r)
		}
	}()
	return account.Follow(ctx, source, frame, func(c account.Changes) error {
		send(c)
		return nil
	})
}
