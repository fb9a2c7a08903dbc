package command

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestARemovedSecretFailsWithinASecondOfTheHangup rotates the secrets of a relay
// that runs as a process of its own.
func TestARemovedSecretFailsWithinASecondOfTheHangup(t *testing.T) {
	dir := isolate(t)
	secrets := filepath.Join(dir, "secrets")
	writeFile(t, secrets, oldSecret+"\n"+newSecret+"\n")
	t.Setenv("TILLWATCH_SIGNING_SECRET_FILE", secrets)
	t.Setenv("TILLWATCH_RELAY_TOKEN", eventsToken)
	p := startRelayService(t, filepath.Join(dir, "relay"))
	body := eventOf(1, "shipment.created")
	quickest := time.Hour // of several rounds, so that a busy machine is no failure
	for range 3 {
		writeFile(t, secrets, oldSecret+"\n"+newSecret+"\n")
		p.hangUp(t)
		eventually(t, "both count", func() bool {
			return p.post(t, http.DefaultClient, oldSecret, body) == 200 && p.post(t, http.DefaultClient, newSecret, body) == 200
		})
		writeFile(t, secrets, newSecret+"\n")
		p.hangUp(t)
		began := time.Now()
		eventually(t, "the removed one fails", func() bool { return p.post(t, http.DefaultClient, oldSecret, body) == 401 })
		quickest = min(quickest, time.Since(began))
		if status := p.post(t, http.DefaultClient, newSecret, body); status != 200 {
			t.Errorf("the one that stays: %d", status)
		}
	}
	if quickest > time.Second {
		t.Errorf("a removed secret counts for %v after the hangup", quickest)
	}
	if said := p.said.String(); strings.Contains(said, oldSecret) || strings.Contains(said, newSecret) || strings.Contains(said, eventsToken) {
		t.Errorf("a secret is in the log: %s", said)
	}
}

// hangUp sends SIGHUP to the process.
func (p *process) hangUp(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}
