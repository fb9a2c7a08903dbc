package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tillwatch/relay/journal"
)

// filled appends events from 1 to n, one by one.
func fill(t *testing.T, j journal.Journal, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n), Body: fmt.Append(nil, n)}}); err != nil {
			t.Fatal(err)
		}
	}
}

// expectFilled checks that j has the events from 1 to n and no others.
func expectFilled(t *testing.T, j journal.Journal, n int) {
	t.Helper()
	records, err := j.Read(t.Context(), 0, n+100)
	if err != nil || len(records) != n {
		t.Fatalf("%d events can be read, want %d; %v", len(records), n, err)
	}
	for i, r := range records {
		if r.Seq != int64(i+1) || r.ID != fmt.Sprint(i+1) {
			t.Errorf("event %d is %s", r.Seq, r.ID)
		}
	}
}

// expectRefused checks that j acknowledges nothing, and is not ready.
func expectRefused(t *testing.T, j journal.Journal, want string) {
	t.Helper()
	for range 3 {
		_, err := j.Append(t.Context(), []journal.Entry{{ID: "refused"}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("append: %v, want one line with %q", err, want)
		}
		for name, err := range map[string]error{"check": j.Check(t.Context()), "owns": j.(*Journal).Owns(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	if head, err := j.Head(t.Context()); err != nil || head != 10 {
		t.Errorf("the head is %d, %v", head, err)
	}
	expectFilled(t, j, 10)
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestWhatLiesBesideTheDatabaseIsNotItsLock(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir)
	fill(t, first, 1, 10)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasPrefix(file.Name(), databaseName) {
			remove(t, filepath.Join(dir, file.Name()))
		}
	}
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("second open: %v", err)
	}
	fill(t, first, 11, 12)
}

func TestNothingIsAcknowledgedThatIsWrittenElsewhere(t *testing.T) {
	for _, test := range []struct {
		name string
		move func(t *testing.T, dir, aside string)
		back func(t *testing.T, dir, aside string) // nil where nothing can be put back
	}{
		{"the database is removed", func(t *testing.T, dir, _ string) {
			remove(t, filepath.Join(dir, databaseName))
		}, nil},
		{"the database is renamed", func(t *testing.T, dir, aside string) {
			rename(t, filepath.Join(dir, databaseName), aside)
		}, func(t *testing.T, dir, aside string) {
			rename(t, aside, filepath.Join(dir, databaseName))
		}},
		{"the database is replaced", func(t *testing.T, dir, aside string) {
			write(t, aside, "another file")
			rename(t, aside, filepath.Join(dir, databaseName))
		}, nil},
		{"the log is removed", func(t *testing.T, dir, _ string) {
			remove(t, filepath.Join(dir, databaseName+"-wal"))
		}, nil},
		{"the folder is removed", func(t *testing.T, dir, _ string) { remove(t, dir) }, nil},
		{"the folder is renamed", func(t *testing.T, dir, aside string) { rename(t, dir, aside) }, func(t *testing.T, dir, aside string) {
			rename(t, aside, dir)
		}},
		{"another journal is in its place", func(t *testing.T, dir, aside string) {
			rename(t, dir, aside)
			closeAll(t, opened(t, dir))
		}, func(t *testing.T, dir, aside string) {
			remove(t, dir)
			rename(t, aside, dir)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, aside := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "aside")
			j := opened(t, dir)
			fill(t, j, 1, 10)
			test.move(t, dir, aside)
			expectRefused(t, j, "was removed, renamed or replaced while it was in use")
			if test.back == nil {
				return
			}
			test.back(t, dir, aside)
			fill(t, j, 11, 20)
			expectFilled(t, j, 20)
			epoch := j.Epoch()
			closeAll(t, j)
			again := opened(t, dir)
			if again.Epoch() != epoch {
				t.Errorf("the epoch was %s and is %s", epoch, again.Epoch())
			}
			expectFilled(t, again, 20)
		})
	}
}

// Nobody may use the folder of a journal whose database was removed: the new one
// would come upon the log of the old one.
func TestAFolderStaysInUseWithoutItsDatabase(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	fill(t, j, 1, 10)
	remove(t, filepath.Join(dir, databaseName))
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("second open: %v", err)
	}
}

func TestADatabaseThatWasMovedIsWholeWithoutItsLog(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	j := opened(t, dir)
	fill(t, j, 1, 10)
	rename(t, filepath.Join(dir, databaseName), filepath.Join(elsewhere, databaseName))
	if err := j.(*Journal).Owns(t.Context()); err == nil {
		t.Error("it is not noticed")
	}
	alone := copied(t, elsewhere)
	expectFilled(t, opened(t, alone), 10)
}

func TestAJournalThatAnotherHasWrittenIsGivenUpForGood(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(t *testing.T, dir string)
		want  string
	}{
		{"another owner is written into it", func(t *testing.T, dir string) {
			execute(t, dir, "UPDATE journal SET owner = 'another'")
		}, ""},
		{"an event is written into it", func(t *testing.T, dir string) {
			execute(t, dir, "INSERT INTO packs SELECT last + 1, last + 1, events, latest FROM packs ORDER BY last DESC LIMIT 1")
		}, ""},
		{"a copy is written over it", func(t *testing.T, dir string) {
			other := t.TempDir()
			closeAll(t, opened(t, other))
			content, err := os.ReadFile(filepath.Join(other, databaseName))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, databaseName), string(content))
		}, "was written by another program"},
		{"its log is cut", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, databaseName+"-wal"), "")
		}, "was written by another program"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			j := opened(t, dir)
			fill(t, j, 1, 10)
			test.write(t, dir)
			for range 2 {
				_, err := j.Append(t.Context(), []journal.Entry{{ID: "refused"}})
				if !errors.Is(err, journal.ErrDisowned) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("append: %v", err)
				}
				if err := j.Check(t.Context()); !errors.Is(err, journal.ErrDisowned) {
					t.Errorf("check: %v", err)
				}
			}
			if head, err := j.Head(t.Context()); err != nil || head != 10 {
				t.Errorf("the head is %d, %v", head, err)
			}
		})
	}
}

// The log is cut as soon as the last event is acknowledged, again and again.
func TestALogThatIsCutRightAfterAnAnswerIsNoticed(t *testing.T) {
	for range 100 {
		dir := t.TempDir()
		j := opened(t, dir)
		fill(t, j, 1, 1)
		if err := os.Truncate(filepath.Join(dir, databaseName+"-wal"), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Append(t.Context(), []journal.Entry{{ID: "refused"}}); !errors.Is(err, journal.ErrDisowned) {
			t.Fatalf("append: %v", err)
		}
	}
}

func TestAJournalWithHolesIsFoundDamaged(t *testing.T) {
	for _, test := range []struct{ name, damage, want string }{
		{"an event is missing", "DELETE FROM packs WHERE last = 50", "is damaged: event 50 is missing"},
		{"events were stored twice", "UPDATE packs SET first = 45 WHERE last = 50", "is damaged: it holds events twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			j := opened(t, dir)
			fill(t, j, 1, 100)
			// Their ids are in runs, so that nothing else reads the events.
			err := j.(*Journal).writer.Do(t.Context(), func(b *batch) error { return b.storeDigests(100) })
			if err != nil {
				t.Fatal(err)
			}
			closeAll(t, j)
			execute(t, dir, test.damage)
			if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

// What takes longer than opening waits shows in a check.
func TestALongAuditGoesOnBesideTheJournal(t *testing.T) {
	j := opened(t, t.TempDir()).(*Journal)
	j.audit.end()
	j.audit = &audit{cancel: func() {}, done: make(chan struct{})}
	if err := j.audit.await(1); err != nil || j.Check(t.Context()) != nil {
		t.Errorf("a check during the audit: %v", err)
	}
	j.audit.err = missing(7)
	close(j.audit.done)
	if err := j.Check(t.Context()); !errors.Is(err, errDamaged) {
		t.Errorf("a check after it: %v", err)
	}
}
