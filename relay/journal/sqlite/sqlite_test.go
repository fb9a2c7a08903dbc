package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tillwatch/relay/journal"
)

func opened(t *testing.T, dir string) journal.Journal {
	t.Helper()
	j, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestFilesAreForThisUserAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data")
	opened(t, dir)
	folder, err := os.Stat(dir)
	if err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", folder.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file.Name(), info.Mode(), err)
		}
	}
}

func TestAFolderMayHaveAnyName(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"data", filepath.Join("a b", "c#d%41&e=f+g"), "what?mode=memory"} {
		if runtime.GOOS == "windows" && strings.Contains(dir, "?") {
			continue // no name there
		}
		t.Run(dir, func(t *testing.T) {
			opened(t, dir)
			if file, err := os.Stat(filepath.Join(dir, databaseName)); err != nil || file.Size() == 0 {
				t.Errorf("the database is not in its folder: %v, %v", file, err)
			}
		})
	}
}

func TestASecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir)
	_, err := Open(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Fatalf("second open: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	opened(t, dir)
}

func TestFoldersThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, dir string) string
		want    string
	}{
		{"a file stands in its place", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "file"), "text")
			return filepath.Join(dir, "file")
		}, "open the journal in"},
		{"the database is text", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, databaseName), strings.Repeat("no database ", 100))
			return dir
		}, "damaged or not a journal"},
		{"the database is cut to a byte", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, databaseName), "S")
			return dir
		}, "damaged or not a journal"},
		{"the database is another program's", func(t *testing.T, dir string) string {
			execute(t, dir, "CREATE TABLE theirs (x)")
			return dir
		}, "not a journal of events: choose another folder"},
		{"the database is of another version", func(t *testing.T, dir string) string {
			closeAll(t, opened(t, dir))
			execute(t, dir, "PRAGMA user_version = 99")
			return dir
		}, "was written by another version of this program (format 99, this program reads 5): choose another folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := test.prepare(t, t.TempDir())
			_, err := Open(t.Context(), dir)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want one line with %q", err, test.want)
			}
		})
	}
}

func TestAWriteThatFailsIsNotKeptAndTheNextSucceeds(t *testing.T) {
	j := opened(t, t.TempDir()).(*Journal)
	appended := func(id string) error {
		_, err := j.Append(t.Context(), []journal.Entry{{ID: id, Body: []byte(id)}})
		return err
	}
	if err := appended("first"); err != nil {
		t.Fatal(err)
	}
	err := j.Do(t.Context(), func(b *batch) error {
		if _, err := b.append(journal.Entry{ID: "second"}); err != nil {
			return err
		}
		panic("broken")
	})
	if err == nil || !strings.Contains(err.Error(), "panic: broken") {
		t.Errorf("error is %v", err)
	}
	if head, _ := j.Head(t.Context()); head != 1 {
		t.Errorf("head is %d after a failed write", head)
	}
	if err := appended("second"); err != nil {
		t.Fatal(err)
	}
	records, err := j.Read(t.Context(), 0, 10)
	if err != nil || len(records) != 2 || records[1].ID != "second" || records[1].Duplicates != 0 {
		t.Errorf("records are %+v, %v", records, err)
	}
}

func TestAFullDiskIsAnErrorAndTheJournalTakesMoreOnceThereIsRoom(t *testing.T) {
	const event = 2000
	d := newDisk(t, 0)
	d.room = 12 << 20
	j := through(t, d, t.TempDir())
	fill := func(from int) (stored int, err error) {
		for n := from; ; n++ {
			if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n), Body: make([]byte, event)}}); err != nil {
				return n - from, err
			}
		}
	}
	stored, err := fill(0)
	if stored*event < 4<<20 || !strings.Contains(err.Error(), "is full: make room") {
		t.Errorf("12 MiB hold %d events of %d bytes: %v", stored, event, err)
	}
	d.mu.Lock()
	d.room += 12 << 20
	d.mu.Unlock()
	more, _ := fill(stored)
	if more*event < 1<<20 {
		t.Errorf("12 MiB more hold %d more events", more)
	}
	head, err := j.Head(t.Context())
	if err != nil || head != int64(stored+more) {
		t.Errorf("the head is %d, %d were stored; %v", head, stored+more, err)
	}
	if records, err := j.Read(t.Context(), head-1, 1); err != nil || len(records) != 1 || records[0].Damaged {
		t.Errorf("the newest is %+v, %v", records, err)
	}
}

func TestNothingIsAcknowledgedThatIsWrittenElsewhere(t *testing.T) {
	for name, move := range map[string]func(t *testing.T, dir string){
		"the database is renamed": func(t *testing.T, dir string) {
			rename(t, filepath.Join(dir, databaseName), filepath.Join(dir, "moved"))
		},
		"the database is removed": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, databaseName)); err != nil {
				t.Fatal(err)
			}
		},
		"its log of the newest commits is removed": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, databaseName+walSuffix)); err != nil {
				t.Fatal(err)
			}
		},
		"another stands in its place": func(t *testing.T, dir string) {
			other := t.TempDir()
			closeAll(t, opened(t, other))
			rename(t, filepath.Join(other, databaseName), filepath.Join(dir, databaseName))
		},
		"the folder is renamed": func(t *testing.T, dir string) { rename(t, dir, dir+" moved") },
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("an open file cannot be moved there")
			}
			dir := filepath.Join(t.TempDir(), "data")
			j := opened(t, dir)
			if _, err := j.Append(t.Context(), []journal.Entry{{ID: "one"}}); err != nil {
				t.Fatal(err)
			}
			move(t, dir)
			_, appendErr := j.Append(t.Context(), []journal.Entry{{ID: "two"}})
			for what, err := range map[string]error{"append": appendErr, "check": j.Check(t.Context())} {
				if err == nil || !strings.Contains(err.Error(), "removed, renamed or replaced while in use: put it back") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if records, err := j.Read(t.Context(), 0, 9); err != nil || len(records) != 1 || records[0].ID != "one" {
				t.Errorf("what was there reads as %+v, %v", records, err)
			}
		})
	}
}

func TestADatabaseThatIsPutBackGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	j := opened(t, dir)
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	rename(t, dir, dir+" moved")
	if _, err := j.Append(t.Context(), []journal.Entry{{ID: "one"}}); err == nil {
		t.Error("it is acknowledged while the folder is away")
	}
	rename(t, dir+" moved", dir)
	results, err := j.Append(t.Context(), []journal.Entry{{ID: "one"}, {ID: "two"}})
	if err != nil || results[0].Seq != 1 || results[1] != (journal.Result{Seq: 2}) {
		t.Errorf("after it was put back: %+v, %v", results, err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func closeAll(t *testing.T, j journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
