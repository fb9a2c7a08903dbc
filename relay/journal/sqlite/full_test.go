//go:build unix

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tillwatch/relay/journal"
)

// limitedFolder names the journal that a child process opens when its files may not grow.
const limitedFolder = "TILLWATCH_TEST_LIMITED"

func init() {
	if dir := os.Getenv(limitedFolder); dir != "" {
		if err := readOnAFullDisk(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// readOnAFullDisk opens a journal and prints how many events it reads, and whether it takes one.
func readOnAFullDisk(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: 100}); err != nil {
		return err
	}
	j, err := Open(context.Background(), dir)
	if err != nil {
		return err
	}
	records, err := j.Read(context.Background(), 0, 100)
	if err != nil {
		return err
	}
	_, err = j.Append(context.Background(), []journal.Entry{{ID: "another"}})
	fmt.Printf("%d events are read. %v\n", len(records), err)
	return j.Close()
}

// SQLite keeps an index in a file of its own while a database is open.
func TestAJournalOnAFullDiskIsOpenedToBeRead(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, dir string) (events int){
		"after it was closed": func(t *testing.T, dir string) int {
			j := opened(t, dir)
			fill(t, j, 1, 10)
			closeAll(t, j)
			return 10
		},
		"after its process was killed": func(t *testing.T, dir string) int {
			killed(t, dir)
			j := opened(t, dir)
			head, err := j.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			closeAll(t, j)
			return int(head)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			events := min(end(t, dir), 100)
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), limitedFolder+"="+dir)
			said, err := child.CombinedOutput()
			want := fmt.Sprintf("%d events are read. write the journal: the disk of the journal folder %s is full: make room", events, dir)
			if err != nil || !strings.HasPrefix(string(said), want) {
				t.Errorf("%v: %s\nwant %s", err, said, want)
			}
			j := opened(t, dir)
			if _, err := j.Append(t.Context(), []journal.Entry{{ID: "another"}}); err != nil {
				t.Errorf("once there is room: %v", err)
			}
		})
	}
}

func TestAJournalOpenedOnAFullDiskTakesEventsOnceThereIsRoom(t *testing.T) {
	d, dir := newDisk(t, 1), t.TempDir()
	j := through(t, d, dir)
	fill(t, j, 1, 10)
	epoch := j.Epoch()
	closeAll(t, j)
	room := func(bytes int64) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.room = bytes
	}
	room(1)
	j = through(t, d, dir)
	expectFilled(t, j, 10)
	for range 2 {
		for what, err := range map[string]error{"check": j.Check(t.Context()), "owns": j.Owns(t.Context())} {
			if err == nil || errors.Is(err, journal.ErrDisowned) || !strings.Contains(err.Error(), "is full: make room") {
				t.Errorf("%s on a full disk: %v", what, err)
			}
		}
	}
	room(0)
	fill(t, j, 11, 20)
	expectFilled(t, j, 20)
	if err := j.Check(t.Context()); err != nil || j.Epoch() != epoch {
		t.Errorf("once there is room: %v, the epoch was %s and is %s", err, epoch, j.Epoch())
	}
}

// Whatever is left of a database, it opens, or its error says what to do.
func TestACutDatabaseIsNamedWithWhatToDo(t *testing.T) {
	whole := t.TempDir()
	fill(t, opened(t, whole), 1, 400) // it stays open, so that its log is there
	left := map[string][]byte{}
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		content, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		left[name] = content
	}
	for name, content := range left {
		for size := 0; size < len(content); size += max(pageSize/2, len(content)/100) {
			dir := t.TempDir()
			for other, content := range left {
				if other == name {
					content = content[:size]
				}
				write(t, filepath.Join(dir, other), string(content))
			}
			j, err := Open(t.Context(), dir)
			if err == nil {
				closeAll(t, j)
			} else if !strings.Contains(err.Error(), "restore it from a copy, or move it away to begin anew") {
				t.Errorf("%s, cut to %d bytes: %v", name, size, err)
			}
		}
	}
}

func TestADatabaseThatIsCutWhileItIsOpenIsNamedWithWhatToDo(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	for n := range 40 {
		if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n), Body: make([]byte, 100<<10)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, databaseName), 3*pageSize); err != nil {
		t.Fatal(err)
	}
	_, err := j.Read(t.Context(), 0, 100)
	if err == nil || !strings.Contains(err.Error(), "restore it from a copy, or move it away to begin anew") {
		t.Errorf("reading: %v", err)
	}
}
