package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tillwatch/api/account"
	"tillwatch/api/simulator"
	"tillwatch/ui/session"
)

func TestASecondStatusBeginsWithWhatTheFirstKnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.openBoard(t, 80, 24)
	w.screen.waitFor(t, `relay ● live`)
	for range 3 {
		made(t, w.service, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp"})
	}
	w.waitForPicture(t, "three intents", func(c account.Changes) bool { return c.Summary.Intents["awaiting_confirmation"] == 3 })
	config, state := w.asUser(t), t.TempDir()

	status := func() snapshot {
		var out, words bytes.Buffer
		if code := run(t.Context(), []string{"status", "--config", config, "--json", "--wait", "30s", "--state-dir", state}, nil, &out, &words); code != exitDone {
			t.Fatalf("exit code %d: %s", code, words.String())
		}
		reports := decodeReports(t, out.Bytes())
		if len(reports) != 1 {
			t.Fatalf("status says %s", out.String())
		}
		return reports[0]
	}
	first := status()
	files, err := filepath.Glob(filepath.Join(state, "picture-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the state folder holds %v, %v; want one picture", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{w.settings.APIKey.Reveal(), w.settings.RelayToken.Reveal()} {
		if strings.Contains(string(content), secret) {
			t.Error("the picture holds a secret")
		}
	}

	w.killed() // without the relay, only what was kept has the intents
	again, err := session.Open(w.keptIn(state), session.Options{Memory: session.Keeps})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restored(); err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := again.Store.Changes(0); len(got.Intents) != 3 || len(got.Events) != 3 || got.Summary.Feed.Cursor != count(first.Relay.Cursor) {
		t.Errorf("the next session begins with %d intents and %d events at %d", len(got.Intents), len(got.Events), got.Summary.Feed.Cursor)
	}
	if !settling(again) {
		t.Error("a session that has read nothing counts as settled")
	}
	w.restartRelay(t)
	second := status()
	if count(second.Intents["awaiting_confirmation"]) != 3 || second.Events.Received != 3 || second.Events.Duplicate != 0 || second.Reads.Total != 3 {
		t.Errorf("the second status says\n%s", second.text())
	}
}

// keptIn is the world's settings with a state folder of their own.
func (w *world) keptIn(dir string) settings {
	s := w.settings
	s.StateDir, s.AllowConfirm = dir, false
	return s
}
