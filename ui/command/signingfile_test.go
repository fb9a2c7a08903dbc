package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnEmptySigningSecretFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "empty-secret")
	if err := os.WriteFile(path, []byte(" \n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := "http://" + nowhere
	for _, args := range [][]string{
		{"trigger", "checkout_intent.completed", "--to", to},
		{"forward", "--to", to, "--relay-url", to},
		{"verify"},
	} {
		t.Run(args[0], func(t *testing.T) {
			r := runAs(t, append(args, "--config", configFile(t, "relay_token", eventsToken, "state_dir", t.TempDir()), "--signing-secret-file", path)...)
			if r.code != exitUsage || !strings.Contains(r.words, "empty-secret holds no secret") {
				t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
			}
			r = runAs(t, append(args, "--signing-secret-file", "")...)
			if r.code != exitUsage || !strings.Contains(r.words, "--signing-secret-file is empty") {
				t.Errorf("no file: exit code %d: %s%s", r.code, r.out, r.words)
			}
		})
	}
}
