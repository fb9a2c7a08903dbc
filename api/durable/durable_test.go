package durable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func mustHold(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", filepath.Base(path), got, err, want)
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReplaceGivesTheFileNewContentForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cursor")
	for _, text := range []string{"one", "two"} {
		if err := Replace(path, writing(text)); err != nil {
			t.Fatal(err)
		}
		mustHold(t, path, text)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("the folder holds %v, want the file alone", got)
	}
}

func TestReplaceThatFailsLeavesTheFileAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cursor")
	if err := Replace(path, writing("one")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := Replace(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "tw")
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	mustHold(t, path, "one")
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("the folder holds %v, want the file alone", got)
	}
}

func TestReplaceKeepingKeepsTheContentBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "picture")
	previous := path + ".previous"
	for _, text := range []string{"one", "two", "three"} {
		if err := ReplaceKeeping(path, previous, writing(text)); err != nil {
			t.Fatal(err)
		}
	}
	mustHold(t, path, "three")
	mustHold(t, previous, "two")
}

func TestReplaceLeavesWhatIsNoRegularFile(t *testing.T) {
	t.Chdir(t.TempDir()) // the address of a socket is short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Skip("no sockets here:", err)
	}
	defer socket.Close()
	for link, to := range map[string]string{"link": "socket", "dangling": "none"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	before := names(t, ".")
	for _, path := range []string{"socket", "link", "dangling"} {
		if err := Replace(path, writing("one")); err == nil {
			t.Errorf("the %s was replaced", path)
		}
		if _, err := os.ReadFile(path); err == nil {
			t.Errorf("the %s is a file now", path)
		}
	}
	if after := names(t, "."); !slices.Equal(after, before) {
		t.Errorf("the folder holds %v, before %v", after, before)
	}
}

func TestReplaceReplacesWhatALinkLeadsTo(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path, file := filepath.Join(dir, "cursor"), filepath.Join(elsewhere, "kept")
	if err := errors.Join(os.WriteFile(file, []byte("one"), 0o600), os.Symlink(file, path)); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := Replace(path, writing("two")); err != nil {
		t.Fatal(err)
	}
	mustHold(t, file, "two")
	mustHold(t, path, "two")
}

func TestReplaceNeedsAFolder(t *testing.T) {
	if err := Replace(filepath.Join(t.TempDir(), "none", "cursor"), writing("one")); !os.IsNotExist(err) {
		t.Errorf("error %v, want that there is no folder", err)
	}
}

func TestRemoveAbandonedLeavesWhatMayBeInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "picture")
	old := time.Now().Add(-time.Hour)
	for name, age := range map[string]time.Time{
		"picture": old, "picture.1.tmp": old, "picture.2.tmp": time.Now(), "picture.previous": old, "other.3.tmp": old,
	} {
		file := filepath.Join(filepath.Dir(path), name)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, age, age)); err != nil {
			t.Fatal(err)
		}
	}
	RemoveAbandoned(path)
	got := names(t, filepath.Dir(path))
	if len(got) != 4 {
		t.Errorf("the folder holds %v, want all but picture.1.tmp", got)
	}
	for _, name := range got {
		if name == "picture.1.tmp" {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestOneProcessAtATimeChangesAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "new", "file")
		change := func(ctx context.Context, do func() error) error { return Exclusively(ctx, path, time.Second, do) }
		over, stop := context.WithCancel(t.Context())
		stop()
		failed := errors.New("it failed")
		err := change(t.Context(), func() error {
			began := time.Now()
			if err := change(t.Context(), func() error { return failed }); err == nil || !strings.Contains(err.Error(), path+" is being changed by another process") {
				t.Errorf("while another changes it: %v", err)
			}
			if waited := time.Since(began); waited != time.Second {
				t.Errorf("waited %v, want a second", waited)
			}
			if err := change(over, func() error { return failed }); !errors.Is(err, context.Canceled) {
				t.Errorf("when interrupted: %v", err)
			}
			return failed
		})
		if err != failed {
			t.Errorf("%v, want the error of the change", err)
		}
		if err := change(t.Context(), func() error { return os.WriteFile(path, nil, 0o600) }); err != nil {
			t.Errorf("after another has changed it: %v", err)
		}
	})
}

func TestTheReasonOfAFailureStandsBeforeItsPath(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"of a file", &fs.PathError{Op: "write", Path: "/a/b", Err: full}, "no space left on device: /a/b"},
		{"of two files", &os.LinkError{Op: "rename", Old: "/a/b.tmp", New: "/a/b", Err: full}, "no space left on device: /a/b"},
		{"of a file, wrapped", fmt.Errorf("save: %w", &fs.PathError{Op: "write", Path: "/a/b", Err: full}), "no space left on device: /a/b"},
		{"of no file", full, "no space left on device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := ReasonFirst(c.err); err.Error() != c.want || !errors.Is(err, full) {
				t.Errorf("%q, want %q", err, c.want)
			}
		})
	}
	if err := ReasonFirst(nil); err != nil {
		t.Errorf("of none: %v", err)
	}
	gone := filepath.Join(t.TempDir(), "gone", "file")
	if err := ReasonFirst(Replace(gone, func(io.Writer) error { return nil })); !errors.Is(err, fs.ErrNotExist) || strings.Index(err.Error(), gone) < 5 || strings.Count(err.Error(), gone) != 1 {
		t.Errorf("of Replace: %v", err)
	}
}
