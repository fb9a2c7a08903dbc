package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
