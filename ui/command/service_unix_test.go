//go:build unix

package command

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

func TestAServiceManagerThatCannotBeToldIsLogged(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	said := &utterances{}
	tellManager(t.Context(), "x", logger(said, false))()
	if !strings.Contains(said.String(), "notifying the service manager failed") {
		t.Errorf("it says %q", said)
	}
}
