package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever mistypes a folder must not be told that it holds nothing, nor find it made.
func TestAFolderThatIsMistypedIsRefusedAndNotMade(t *testing.T) {
	dir := t.TempDir()
	mistyped, empty := filepath.Join(dir, "mistyped", "relay"), filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	in := func(state string) []string {
		return []string{"--config", configFile(t, "api_url", "http://127.0.0.1:1", "api_key", "key-of-the-test", "relay_url", "http://127.0.0.1:1", "relay_token", eventsToken, "state_dir", state)}
	}
	for _, c := range []struct {
		name  string
		args  []string
		state string
		code  int
		says  string
	}{
		{"tokens of no folder", []string{"tokens", "list", "--data", mistyped}, empty, exitUsage, "there is no folder " + mistyped},
		{"a token of no folder", []string{"tokens", "revoke", "laptop", "--data", mistyped}, empty, exitUsage, "there is no folder " + mistyped},
		{"a new token in no folder", []string{"tokens", "create", "--name", "laptop", "--data", mistyped}, empty, exitUsage, "there is no folder " + mistyped},
		{"a token of another folder", []string{"tokens", "revoke", "laptop", "--data", empty}, empty, exitFailed, `there is no token named "laptop"; tokens are: none`},
		{"tokens of another folder", []string{"tokens", "list", "--data", empty}, empty, exitDone, ""},
		{"the dead of no folder", []string{"forward", "dead"}, mistyped, exitUsage, "there is no folder " + mistyped},
		{"the dead of another folder", []string{"forward", "dead"}, empty, exitDone, "no event was given up"},
		{"resending in no folder", []string{"forward", "resend", "--all"}, mistyped, exitUsage, "there is no folder " + mistyped},
		{"resending in another folder", []string{"forward", "resend", "evt_1"}, empty, exitFailed, "evt_1 is not dead"},
		{"a relay's data of no folder", []string{"doctor", "--data", mistyped}, mistyped, exitFailed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runAs(t, append(c.args, in(c.state)...)...)
			if r.code != c.code || !strings.Contains(r.words, c.says) {
				t.Errorf("exit code %d, want %d with %q: %s%s", r.code, c.code, c.says, r.out, r.words)
			}
			var made []string
			_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
				if path != dir && path != empty {
					made = append(made, path)
				}
				return nil
			})
			if len(made) > 0 {
				t.Errorf("it made %v", made)
			}
		})
	}
}

// On a new machine the folder that nobody named is not there yet: it holds nothing.
func TestTheUsualStateFolderThatIsNotMadeYetHoldsNothing(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	config := configFile(t, "api_url", "http://127.0.0.1:1", "api_key", "key-of-the-test", "relay_url", "http://127.0.0.1:1", "relay_token", eventsToken)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"forward", "dead"}, exitDone, "no event was given up"},
		{[]string{"forward", "resend", "--all"}, exitDone, "no event was given up"},
	} {
		r := runAs(t, append(c.args, "--config", config)...)
		if made, _ := os.ReadDir(state); r.code != c.code || !strings.Contains(r.words, c.says) || len(made) > 0 {
			t.Errorf("%v: exit code %d, want %d with %q, and nothing made: %s%s%v", c.args, r.code, c.code, c.says, r.out, r.words, made)
		}
	}
}
