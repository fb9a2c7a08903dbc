package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tillwatch/relay/journal"
)

// copied copies a journal while it is open, as a crash would leave it.
func copied(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Ext(file.Name()) == ".db-shm" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(from, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, file.Name()), string(content))
	}
	return to
}

func TestALostTailIsReportedAndBeginsANewEpoch(t *testing.T) {
	const events = 20
	for _, test := range []struct {
		name   string
		damage func(log []byte) []byte
		lost   bool
	}{
		{"nothing", func(log []byte) []byte { return log }, false},
		{"the last byte is cut off", func(log []byte) []byte { return log[:len(log)-1] }, true},
		{"half is cut off", func(log []byte) []byte { return log[:len(log)/2] }, true},
		{"the last page has a flipped bit", func(log []byte) []byte {
			log[len(log)-100] ^= 4
			return log
		}, true},
		{"zeroes follow", func(log []byte) []byte { return append(log, make([]byte, 9000)...) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			origin := t.TempDir()
			j := opened(t, origin)
			for n := 1; n <= events; n++ {
				if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n), Body: make([]byte, 3000)}}); err != nil {
					t.Fatal(err)
				}
			}
			dir := copied(t, origin)
			path := filepath.Join(dir, databaseName+"-wal")
			log, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(test.damage(log)))

			damaged := opened(t, dir).(*Journal)
			head, err := damaged.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			from, to := damaged.Lost()
			if lost := damaged.Epoch() != j.Epoch(); lost != test.lost || lost != (from <= to) || lost != (head < events) {
				t.Errorf("head %d, lost %d to %d, epoch %s of %s", head, from, to, damaged.Epoch(), j.Epoch())
			}
			if test.lost && (from != head+1 || to != events) {
				t.Errorf("head %d, lost %d to %d", head, from, to)
			}
			records, err := damaged.Read(t.Context(), 0, events)
			if err != nil || int64(len(records)) != head {
				t.Errorf("%d records of %d, %v", len(records), head, err)
			}
			epoch := damaged.Epoch()
			closeAll(t, damaged)
			again := opened(t, dir).(*Journal)
			if from, to := again.Lost(); from <= to || again.Epoch() != epoch {
				t.Errorf("the loss is reported again: %d to %d, epoch %s of %s", from, to, again.Epoch(), epoch)
			}
		})
	}
}

func TestAJournalInThePlaceOfAnotherHasLostItsEvents(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, path string)
	}{
		{"removed", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}},
		{"emptied", func(t *testing.T, path string) { write(t, path, "") }},
		{"replaced by an older one", func(t *testing.T, path string) {
			older := t.TempDir()
			j := opened(t, older)
			if _, err := j.Append(t.Context(), []journal.Entry{{ID: "1"}}); err != nil {
				t.Fatal(err)
			}
			closeAll(t, j)
			content, err := os.ReadFile(filepath.Join(older, databaseName))
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(content))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			j := opened(t, dir)
			for n := 1; n <= 5; n++ {
				if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n)}}); err != nil {
					t.Fatal(err)
				}
			}
			closeAll(t, j)
			test.change(t, filepath.Join(dir, databaseName))
			changed := opened(t, dir).(*Journal)
			if from, to := changed.Lost(); from != changed.newest()+1 || to != 5 {
				t.Errorf("lost %d to %d, head %d", from, to, changed.newest())
			}
			closeAll(t, changed)
			again := opened(t, dir).(*Journal)
			if from, to := again.Lost(); from <= to || again.Epoch() != changed.Epoch() {
				t.Errorf("the loss is reported again: %d to %d", from, to)
			}
		})
	}
}

func TestAFileThatIsNotWritableIsNamed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, markName)
	denied := &fs.PathError{Op: "open", Path: file, Err: fs.ErrPermission}
	if err := explain(dir, denied); !strings.HasPrefix(err.Error(), "the journal folder "+dir+" is not writable") {
		t.Errorf("a file that cannot be made: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := explain(dir, denied); !strings.HasPrefix(err.Error(), file+" is not writable") {
		t.Errorf("a file that may not be written: %v", err)
	}
}
