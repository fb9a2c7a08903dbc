package forward

import (
	"errors"
	"os"
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

func TestTheStateIsARegularFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.Symlink(os.DevNull, path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	state, err := OpenState(path)
	if err == nil {
		err = errors.Join(errors.New("it was opened"), state.Close())
	}
	if !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error is %v", err)
	}
}
