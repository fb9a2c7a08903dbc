//go:build unix

package command

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminalRelay is a relay in a terminal of its own.
type terminalRelay struct {
	process
	master *os.File
}

// startInTerminal runs the relay of the tests in a terminal, by way of a shell
// that does what setup says before.
func startInTerminal(t *testing.T, data, setup string) *terminalRelay {
	t.Helper()
	program := relayProgram(os.Args[0], data, "--config", relayConfig(t))
	command := exec.Command("/bin/sh", append([]string{"-c", setup + `exec "$0" "$@"`}, program.Args...)...)
	command.Env = program.Env
	// Under nohup a program is born deaf to this signal, but not where its parent hears it.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	master, err := pty.StartWithSize(command, &pty.Winsize{Rows: 24, Cols: 500})
	if err != nil {
		t.Fatal(err)
	}
	r := &terminalRelay{process: process{command: command, gone: make(chan struct{})}, master: master}
	go func() {
		_ = command.Wait() // its state is asked
		close(r.gone)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-r.gone
		_ = master.Close()
	})
	for lines := bufio.NewScanner(master); lines.Scan(); {
		if json.Unmarshal(lines.Bytes(), &r.ready) == nil && r.Listen != "" {
			return r
		}
	}
	t.Fatal("the relay does not get ready")
	return nil
}

func TestARelayInATerminalEndsWithIt(t *testing.T) {
	for _, test := range []struct {
		name   string
		hangUp func(t *testing.T, r *terminalRelay)
	}{
		{"when the terminal closes", func(t *testing.T, r *terminalRelay) { _ = r.master.Close() }},
		{"when it is told so", func(t *testing.T, r *terminalRelay) { r.process.hangUp(t) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "relay")
			r := startInTerminal(t, data, "")
			if status := r.post(t, http.DefaultClient, oldSecret, eventOf(1, "shipment.created")); status != 200 {
				t.Fatalf("an event: %d", status)
			}
			test.hangUp(t, r)
			select {
			case <-r.gone:
			case <-time.After(patience):
				t.Fatal("it runs on")
			}
			if state := r.command.ProcessState; state.ExitCode() != exitDone {
				t.Errorf("it ended with %v, not in good order", state)
			}
			again := startRelayProcess(t, data, "--config", relayConfig(t))
			if found, _ := again.everything(t, eventsToken); found["evt_1"].times != 1 {
				t.Errorf("the journal has %v", found)
			}
		})
	}
}

func TestARelayUnderNohupOutlivesItsTerminalAndReloads(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	r := startInTerminal(t, filepath.Join(t.TempDir(), "relay"), "trap '' HUP; exec 2>'"+log+"'; ")
	_ = r.master.Close()
	r.process.hangUp(t)
	eventually(t, "it has reloaded", func() bool {
		said, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(said), "reloaded")
	})
	if status := r.get(t, "/livez", ""); status != 200 {
		t.Errorf("livez: %d", status)
	}
}
