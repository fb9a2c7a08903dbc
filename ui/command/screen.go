package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/notify"
	"tillwatch/ui/plain"
	"tillwatch/ui/recording"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// paintFirst is how long network traffic waits for the first frame.
const paintFirst = 30 * time.Millisecond

// garbagePercent is GOGC. Most of the picture is long-lived: with Go's 100, the program takes a third to a half more
// memory. With 15 it takes a twentieth less than with 25, and a fifth more CPU while charts are open beside ten events
// and fifty requests a second (go run ./ui/measure -under charts).
const garbagePercent = 25

// show runs the session behind the dashboard, or prints lines of text, until the person quits or ctx ends.
func show(ctx context.Context, s *session.Session, o screenOptions, in io.Reader, out io.Writer) error {
	config, err := screenOf(s, o)
	if err != nil {
		return err
	}
	config.SuspendInterrupts = interruptSuspender(ctx)
	record, err := recordsOf(s, o, out)
	if err != nil {
		return err
	}
	defer record.report(o.words)
	s.Warn(o.words)
	if o.plain {
		lines := plain.Config{Source: s.Store, Environment: config.Environment, Account: config.Account}
		printing := s.OnceRestored(func(ctx context.Context) error { return plain.Run(ctx, lines, out) })
		return session.Alongside(ctx, printing, s.Run, record.run, sendAlerts(s, o))
	}
	var layout *savedLayout
	if o.kept {
		layout, config.Warning = loadLayout(s.Settings.StateDir, s.Settings.Theme)
		config.Remembered, config.Remember = layout.layout, layout.remember
		defer layout.reportFailure(o.words)
		config.Attend = s.Attention.Change
		if config.Attention, err = s.Attention.Load(); err != nil && config.Warning == "" {
			config.Warning = err.Error()
		}
	}
	if warnings := s.Warnings(); len(warnings) > 0 {
		config.Warning = warnings[0] // first, as it is about money
	}
	config.Recording = record
	followTheme, err := applyTheme(s.Settings, &config)
	if err != nil {
		return err
	}
	live := func(ctx context.Context) error {
		_ = api.Sleep(ctx, paintFirst)
		debug.SetGCPercent(garbagePercent)
		return s.Run(ctx)
	}
	screen := func(ctx context.Context) error { return dashboard.Run(ctx, config, in, out) }
	if o.screen != nil {
		screen = func(ctx context.Context) error { return o.screen.Show(ctx, config) }
	}
	return session.Alongside(ctx, screen, live, followTheme, record.run, layout.run, attend(s, o), sendAlerts(s, o))
}

// screenOf is the dashboard's configuration for a session.
func screenOf(s *session.Session, o screenOptions) (dashboard.Config, error) {
	where, environ := s.Client.Environment(), s.Settings.Environ(os.Environ())
	config := dashboard.Config{
		Source: s.Store, Restored: s.Restored, Environment: where.Name, Live: where.Live, Account: s.Settings.Host(),
		Armed: s.Guard != nil, Refresh: s.Watcher.Refresh, TryKey: s.TryKey, KeyFile: wording.Path(s.Settings.KeyFile()),
		Reconnect: s.Retry, ConfirmWindow: s.Settings.ConfirmWindow, Payment: session.ConfirmBody(s.Settings).PaysBy(),
		Browser:  browser(runtime.GOOS, os.Getenv, s.Settings.NoOpen),
		Exporter: exporter{s, o.folder(s.Settings)}, Copy: clipboard(os.Getenv, environ), CommandEnviron: environ,
		Notify: notify.Method(s.Settings.Notify).Resolve(os.Getenv), NoMouse: o.noMouse, NoColor: o.noColor,
		Width: o.width, Height: o.height, Filter: s.Settings.Filter, IdleAfter: cmp.Or(s.Settings.IdleAfter, -1), At: o.at,
	}
	if s.Guard != nil {
		config.Confirmer = s.Guard
	}
	var err, unusable error
	config.Actions, err = actionsOf(s.Settings)
	config.Commands, unusable = ownCommands(s.Settings)
	return config, errors.Join(err, unusable)
}

// sendAlerts gives alerts to the configured program while the session runs.
func sendAlerts(s *session.Session, o screenOptions) session.Part {
	if !o.kept || len(s.Settings.AlertCommand) == 0 {
		return session.UntilDone
	}
	sender := &attention.Sender{
		Command: s.Settings.AlertCommand, Environ: s.Settings.Environ(os.Environ()), Live: s.Settings.AlertCommandLive,
		Source: s.Store, File: s.Attention, Environment: s.Client.Environment, Account: s.Settings.Host(),
		Report: func(err error) { s.Store.Report(account.AlertSending, err) },
	}
	return s.OnceRestored(sender.Run)
}

// attend saves which alerts are acknowledged and muted.
func attend(s *session.Session, o screenOptions) session.Part {
	if !o.kept {
		return session.UntilDone
	}
	return func(ctx context.Context) error {
		err := s.Attention.Run(ctx)
		if failed := s.Attention.Err(); failed != nil {
			fmt.Fprintf(o.words, "tillwatch: %v\n", failed)
		}
		return err
	}
}

// stream prints what the session knows and then each change, as JSON lines, until the reader leaves or ctx ends.
func stream(ctx context.Context, s *session.Session, o screenOptions, out io.Writer) error {
	// Otherwise SIGPIPE would end the process before it has saved its state.
	leaving := make(chan os.Signal, 1)
	signal.Notify(leaving, syscall.SIGPIPE)
	defer signal.Stop(leaving)

	record, err := recordsOf(s, o, out)
	if err != nil {
		return err
	}
	defer record.report(o.words)
	s.Warn(o.words)
	printing := s.OnceRestored(func(ctx context.Context) error {
		s.AwaitEnvironment(ctx)
		return printStream(ctx, s.Store, s.Header(), out)
	})
	return session.Alongside(ctx, printing, s.Run, record.run, sendAlerts(s, o))
}

// printStream ends without an error when its reader has left or is stuck.
func printStream(ctx context.Context, source account.Picture, h form.Header, out io.Writer) error {
	err := unlessStuck(ctx, func() error { return recording.Stream(ctx, source, h, out) })
	if readerLeft(err) || errors.Is(err, errStuck) {
		return nil
	}
	return err
}

// readerLeft reports whether a write failed because nobody reads the output.
func readerLeft(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // their Windows codes
	if runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData)) {
		return true
	}
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
