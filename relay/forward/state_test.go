package forward

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTheStateOfANewerVersionIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	state, err := OpenState(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := state.run("PRAGMA user_version = 2"); err != nil {
		t.Fatal(err)
	}
	if err := state.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenState(path); err == nil || !strings.Contains(err.Error(), "a newer version of this program wrote it") {
		t.Fatalf("error is %v", err)
	}
}
