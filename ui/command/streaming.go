package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/account/form"
	"tillwatch/ui/recording"
)

// header is the first line of the session's recordings and streams.
func (s *session) header() form.Header {
	where := s.client.Environment()
	return form.Header{Began: time.Now(), Environment: where.Name, Live: where.Live, Account: s.settings.Host()}
}

// stream prints what the session knows and then each change, as JSON lines, until the
// reader leaves or ctx ends.
func (s *session) stream(ctx context.Context, o screenOptions, out io.Writer) error {
	// Otherwise SIGPIPE would end the process before it has saved its state.
	leaving := make(chan os.Signal, 1)
	signal.Notify(leaving, syscall.SIGPIPE)
	defer signal.Stop(leaving)

	record, err := s.record(o, out)
	if err != nil {
		return err
	}
	defer record.report(o.words)
	s.warn(o.words)
	source := restoredStore{s.store, s.restored}
	printing := func(ctx context.Context) error {
		s.awaitEnvironment(ctx)
		return printStream(ctx, source, s.header(), out)
	}
	return alongside(ctx, printing, s.run, record.run, s.sendAlerts(o))
}

// environmentWithin is how long a stream or a recording waits for an answer that
// names the environment.
const environmentWithin = 2 * time.Second

// awaitEnvironment waits for the first answer if only that can name the environment:
// the first line names it, and cannot change later.
func (s *session) awaitEnvironment(ctx context.Context) {
	if len(s.client.Environments()) == 1 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, environmentWithin)
	defer stop()
	_ = s.store.Until(ctx, func() bool { return s.client.Environment().Known() })
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
