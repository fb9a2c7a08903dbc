//go:build unix

package command

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

// manager is a service manager that hears what its services tell.
type manager struct {
	t      *testing.T
	socket *net.UnixConn
	path   string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "tw") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &manager{t: t, path: filepath.Join(dir, "notify")}
	if m.socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.socket.Close() })
	return m
}

// next waits for a message.
func (m *manager) next() string {
	m.t.Helper()
	if err := m.socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		m.t.Fatal(err)
	}
	message := make([]byte, 4096)
	n, err := m.socket.Read(message)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(message[:n])
}

func TestTheServiceManagerIsToldOfReadinessLifeAndEnd(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	data := filepath.Join(t.TempDir(), "relay")
	command := relayProgram(os.Args[0], data, "--config", relayConfig(t), "--admin-listen", "127.0.0.1:0")
	command.Env = append(command.Env, "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=200000")
	p, output := spawn(t, command, data)
	p.mustGetReady(t, output)
	if said := m.next(); said != "READY=1\nSTATUS=Listening on "+p.Listen {
		t.Errorf("first it said %q", said)
	}
	for range 5 {
		if said := m.next(); said != "WATCHDOG=1" {
			t.Errorf("then it said %q", said)
		}
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	said := m.next()
	for said == "WATCHDOG=1" { // sent before
		said = m.next()
	}
	if !strings.HasPrefix(said, "STOPPING=1\n") {
		t.Errorf("last it said %q", said)
	}
	<-p.gone
}

func TestNoSignOfLifeIsGivenWhileThereIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log utterances
		m := newManager(t)
		s := supervisor{socket: m.path, watchdog: 40 * time.Second, logger: slog.New(slog.NewTextHandler(&log, nil))}
		fails := errors.New("nothing answers")
		var asked int
		ctx, cancel := context.WithCancel(t.Context())
		end := s.begin(ctx, "Ready", func(limited context.Context) error {
			if ends, bounded := limited.Deadline(); !bounded || time.Until(ends) > 10*time.Second {
				t.Errorf("it may be asked for %v", time.Until(ends))
			}
			if asked++; asked > 3 && asked <= 6 {
				return fails
			}
			return nil
		})
		<-time.After(85 * time.Second) // it is asked eight times
		cancel()
		end()
		for _, want := range []string{"READY=1\nSTATUS=Ready", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1", "STOPPING=1\nSTATUS=Shutting down"} {
			if said := m.next(); said != want {
				t.Errorf("it said %q, want %q", said, want)
			}
		}
		if n := strings.Count(log.String(), "nothing answers"); n != 3 {
			t.Errorf("the log says %d times why there is no sign of life: %s", n, &log)
		}
	})
}

func TestWithoutAServiceManagerNothingIsTold(t *testing.T) {
	var log utterances
	s := supervisor{watchdog: time.Nanosecond, logger: slog.New(slog.NewTextHandler(&log, nil))}
	s.begin(t.Context(), "Ready", func(context.Context) error { t.Error("it is asked"); return nil })()
	s.socket = filepath.Join(t.TempDir(), "nobody")
	if s.notifyOrLog("READY=1"); !strings.Contains(log.String(), "notifying the service manager failed") {
		t.Errorf("a manager that cannot be reached is reported by %q", &log)
	}
}

func TestTheWatchdogIsThatOfThisProcess(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	for _, test := range []struct {
		name, us, process string
		want              time.Duration
	}{
		{"none", "", "", 0},
		{"of this process", "60000000", self, time.Minute},
		{"of the service", "60000000", "", time.Minute},
		{"of another process", "60000000", self + "0", 0},
		{"no number", "soon", self, 0},
		{"no time", "0", self, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("NOTIFY_SOCKET", "/run/notify")
			t.Setenv("WATCHDOG_USEC", test.us)
			t.Setenv("WATCHDOG_PID", test.process)
			if s := findSupervisor(nil); s.watchdog != test.want || s.socket != "/run/notify" {
				t.Errorf("it is %+v, want a watchdog of %v", s, test.want)
			}
		})
	}
}

// checkedJournal is a journal whose check says something else.
type checkedJournal struct {
	journal.Journal
	check func(context.Context) error
}

func (c checkedJournal) Check(ctx context.Context) error {
	if c.check == nil {
		return c.Journal.Check(ctx)
	}
	return c.check(ctx)
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestARelayLivesWhileItAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		check  func(context.Context) error // of the journal; nil: as it is
		files  bool
		served bool
		want   string
	}{
		{"well", nil, true, true, ""},
		{"with a full disk", func(context.Context) error { return errors.New("disk full") }, true, true, ""},
		{"with files that hang", hang, true, true, errJournalHangs.Error()},
		{"with a database that hangs", hang, false, true, ""},
		{"not served", nil, true, false, "has not answered in time"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			events, err := sqlite.Open(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer events.Close()
			r, err := relay.New(relay.Config{
				Journal: checkedJournal{events, test.check}, SigningSecrets: []api.Secret{api.NewSecret(oldSecret)}, Tokens: []api.Secret{api.NewSecret(eventsToken)},
			})
			if err != nil {
				t.Fatal(err)
			}
			listener, err := listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			lives, err := livenessOf(r, "http", test.files, listener)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			served := make(chan error, 1)
			limit := patience
			if test.served {
				go func() { served <- r.Serve(ctx, listener) }()
			} else {
				t.Cleanup(func() { _ = listener.Close() })
				served <- nil
				limit = 100 * time.Millisecond
			}
			limited, stop := context.WithTimeout(ctx, limit)
			defer stop()
			if err := lives(limited); test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("it lives: %v, want %q", err, test.want)
			}
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}
