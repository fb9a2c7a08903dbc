package command

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"tillwatch/relay"
)

// supervisor is the service manager that started this process, by the protocol of
// sd_notify(3), as systemd does.
type supervisor struct {
	socket   string        // "": none listens
	watchdog time.Duration // after which it restarts a silent process; 0: never
	logger   *slog.Logger
}

// findSupervisor reads a service manager's environment variables.
func findSupervisor(logger *slog.Logger) supervisor {
	s := supervisor{socket: os.Getenv("NOTIFY_SOCKET"), logger: logger}
	if process := os.Getenv("WATCHDOG_PID"); process != "" && process != strconv.Itoa(os.Getpid()) {
		return s // meant for another process
	}
	if us, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 {
		s.watchdog = time.Duration(us) * time.Microsecond
	}
	return s
}

// notify sends lines of state. It does not wait for a manager that does not read.
func (s supervisor) notify(state string) error {
	socket, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer socket.Close()
	_ = socket.SetWriteDeadline(time.Now().Add(time.Second)) // it is open, so this cannot fail
	_, err = socket.Write([]byte(state))
	return err
}

// begin says that this process is ready, sends a heartbeat as long as lives returns
// nil, and says when ctx ends that it is stopping. end waits for that.
func (s supervisor) begin(ctx context.Context, status string, lives func(context.Context) error) (end func()) {
	if s.socket == "" {
		return func() {}
	}
	s.notifyOrLog("READY=1\nSTATUS=" + status)
	return background(ctx, func(ctx context.Context) {
		if s.watchdog > 0 {
			s.beat(ctx, lives)
		}
		<-ctx.Done()
		s.notifyOrLog("STOPPING=1\nSTATUS=Shutting down")
	})
}

// beat sends heartbeats four times as often as needed. A slow check delays one, a
// failing check suppresses it.
func (s supervisor) beat(ctx context.Context, lives func(context.Context) error) {
	interval := s.watchdog / 4
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		limited, cancel := context.WithTimeout(ctx, interval)
		err := lives(limited)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.logger.Error("the liveness check failed, no heartbeat for the service manager", slog.String("error", err.Error()))
		default:
			s.notifyOrLog("WATCHDOG=1")
		}
	}
}

// notifyOrLog logs what cannot be sent.
func (s supervisor) notifyOrLog(state string) {
	if err := s.notify(state); err != nil {
		s.logger.Error("notifying the service manager failed", slog.String("error", err.Error()))
	}
}

var errJournalHangs = errors.New("the journal does not answer")

// livenessOf returns a liveness check of a relay: each listener must answer, if only that
// the relay is not ready. A restart cures neither a full disk nor an unreachable
// database; it may if the files of a journal hang.
func livenessOf(r *relay.Relay, scheme string, files bool, listeners ...net.Listener) (func(context.Context) error, error) {
	var probes []*relay.Probe
	for _, l := range listeners {
		probe, err := relay.NewProbe(scheme+"://localhost", func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, l.Addr().Network(), l.Addr().String())
		})
		if err != nil {
			return nil, err
		}
		probes = append(probes, probe)
	}
	return func(ctx context.Context) error {
		for _, probe := range probes {
			var unready *relay.UnreadyError
			if _, err := probe.Ask(ctx); err != nil && !errors.As(err, &unready) {
				return err
			}
		}
		if files && r.JournalHangs() {
			return errJournalHangs
		}
		return nil
	}, nil
}
