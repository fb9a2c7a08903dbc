package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// show runs the session behind the dashboard, or prints lines, until the person quits, the reader leaves or ctx ends.
// What is said beside it is printed after the screen is gone, unless that is stuck.
func show(ctx context.Context, s *session.Session, o screenOptions, in io.Reader, out io.Writer) error {
	screen, words := dashboard.NewScreen(in, out), o.words
	if !o.plain {
		var said bytes.Buffer
		defer func() {
			if !screen.Stuck() {
				_, _ = said.WriteTo(words)
			}
		}()
		o.words = &said
	}
	record, err := recordsOf(s, o, out)
	if err != nil {
		return err
	}
	defer record.finish(o.words)
	s.Warn(o.words)
	if o.plain {
		return session.Alongside(ctx, s.OnceRestored(lines(s, o, out)), s.Run, sendAlerts(s, o))
	}
	config, err := screenOf(s, o)
	if err != nil {
		return err
	}
	config.Recording, config.SuspendInterrupts = record, interruptSuspender(ctx)
	var keep []session.Part
	if o.kept {
		layout, warning := loadLayout(s.Settings.StateDir, s.Settings.Theme)
		config.Remembered, config.Remember, config.Attend = layout.layout, layout.remember, s.Attention.Change
		if config.Attention, err = s.Attention.Load(); err != nil {
			warning = cmp.Or(warning, err.Error())
		}
		config.Warning, keep = warning, []session.Part{layout.run, s.Attention.Run}
		defer func() {
			for _, failed := range []error{layout.failed, s.Attention.Err()} {
				if failed != nil {
					fmt.Fprintf(o.words, "tillwatch: %v\n", failed)
				}
			}
		}()
	}
	if warnings := s.Warnings(); len(warnings) > 0 {
		config.Warning = warnings[0] // first, as it is about money
	}
	followTheme, err := applyTheme(s.Settings, &config)
	if err != nil {
		return err
	}
	live := func(ctx context.Context) error {
		_ = api.Sleep(ctx, paintFirst)
		debug.SetGCPercent(garbagePercent)
		return s.Run(ctx)
	}
	return session.Alongside(ctx, func(ctx context.Context) error { return screen.Show(ctx, config) },
		append(keep, live, followTheme, sendAlerts(s, o))...)
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
	var err error
	config.Actions, config.Commands, err = actionsOf(s.Settings)
	return config, err
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

// lines prints a line for each change or, with --json, the picture and then each change.
func lines(s *session.Session, o screenOptions, out io.Writer) session.Part {
	if !o.json {
		config := plain.Config{Source: s.Store, Environment: s.Client.Environment().Name, Account: s.Settings.Host()}
		return func(ctx context.Context) error { return plain.Run(ctx, config, out) }
	}
	surviveReaders() // so that the state is saved
	return func(ctx context.Context) error {
		s.AwaitEnvironment(ctx)
		return printStream(ctx, s.Store, s.Header(), out)
	}
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
