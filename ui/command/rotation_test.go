package command

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tillwatch/relay"
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

func TestAnEmptiedFileOfTheTokenLocksNobodyOut(t *testing.T) {
	dir := isolate(t)
	token := filepath.Join(dir, "token")
	writeFile(t, token, eventsToken+"\n")
	t.Setenv("TILLWATCH_RELAY_TOKEN_FILE", token)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	p := startRelayService(t, filepath.Join(dir, "relay"))
	writeFile(t, token, "")
	p.hangUp(t)
	eventually(t, "the hangup is noticed", func() bool { return strings.Contains(p.said.String(), "reload") })
	if status := p.get(t, relay.EventsPath, eventsToken); status != http.StatusOK || !strings.Contains(p.said.String(), token+" holds no secret") {
		t.Errorf("the token of before: %d, said %s", status, p.said)
	}
}

// hangUp sends SIGHUP to the process.
func (p *process) hangUp(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}
