package doctor

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tillwatch/api/durable"
)

func TestADoctorReadsTheRoomOfAnyDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		room uint64
		want string
	}{
		{"an ordinary disk", 3e9, "3.0 GB free for "},
		{"a disk that says it has no end", math.MaxUint64, "9223372036.9 GB free for "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Setup{StateDir: t.TempDir(), Free: func(string) (uint64, error) { return c.room, nil }}
			if found := s.checkDisk(t.Context()); len(found) != 1 || found[0].Verdict != OK || !strings.HasPrefix(found[0].Found, c.want) {
				t.Errorf("found %+v", found)
			}
		})
	}
}

func TestAFileThatNobodyCanReachIsNobodyElses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions")
	}
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "key")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	for dir := folder; dir != filepath.Clean(os.TempDir()) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // so that every user can enter it
			t.Fatal(err)
		}
	}
	if who := othersWith(path, 0o004); who == "" {
		t.Error("every user can read it, but nobody was reported")
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if who := othersWith(path, 0o044); who != "" {
		t.Errorf("%s was reported, but cannot reach it", who)
	}
}

func TestTheDoctorSaysWhatHelpsWhereNothingCanBeWritten(t *testing.T) {
	for cause, want := range map[error]string{syscall.ENOSPC: "make room", syscall.EROFS: "mount its file system for writing", syscall.EACCES: "give permission"} {
		err := durable.ReasonFirst(&fs.PathError{Op: "open", Path: "journal.db", Err: cause})
		if do := toWrite(err, "give permission"); !strings.HasPrefix(do, want) {
			t.Errorf("%v: %s, want %s", err, do, want)
		}
	}
}
