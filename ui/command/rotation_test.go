package command

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tillwatch/relay"
)

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
