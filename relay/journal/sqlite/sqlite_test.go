package sqlite

import (
	"context"
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
		}, "cannot be used"},
		{"the database is text", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, databaseName), strings.Repeat("no database ", 100))
			return dir
		}, "damaged or not a journal"},
		{"the database is another program's", func(t *testing.T, dir string) string {
			execute(t, dir, "CREATE TABLE theirs (x)")
			return dir
		}, "not a journal of events: choose another folder"},
		{"the database is of a newer version", func(t *testing.T, dir string) string {
			closeAll(t, opened(t, dir))
			execute(t, dir, "PRAGMA user_version = 99")
			return dir
		}, "newer version"},
		{"the database is of before the first release", func(t *testing.T, dir string) string {
			closeAll(t, opened(t, dir))
			execute(t, dir, "PRAGMA user_version = 3")
			return dir
		}, "was written before the first release of this program (format 3, this program reads 4): choose another folder"},
		{"the newest event was removed", func(t *testing.T, dir string) string {
			j := opened(t, dir)
			for n := range 3 {
				if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n)}}); err != nil {
					t.Fatal(err)
				}
			}
			closeAll(t, j)
			execute(t, dir, "INSERT INTO id_digests (first, digests) VALUES (1, zeroblob(48)); DELETE FROM packs WHERE last = 3")
			return dir
		}, "is damaged: event 3 is missing: restore it from a copy"},
		{"an event was changed", func(t *testing.T, dir string) string {
			j := opened(t, dir)
			if _, err := j.Append(t.Context(), []journal.Entry{{ID: "a", Body: []byte("body")}}); err != nil {
				t.Fatal(err)
			}
			closeAll(t, j)
			execute(t, dir, "UPDATE packs SET events = CAST(replace(CAST(events AS TEXT), 'body', 'bode') AS BLOB)")
			return dir
		}, "is damaged: events 1 to 1 cannot be read: restore it from a copy"},
		{"an event was removed from the middle", func(t *testing.T, dir string) string {
			j := opened(t, dir)
			for n := range 3 {
				_, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n)}})
				if err != nil {
					t.Fatal(err)
				}
			}
			closeAll(t, j)
			execute(t, dir, "DELETE FROM packs WHERE last = 2")
			return dir
		}, "is damaged: event 2 is missing: restore it from a copy"},
		{"the ids of pruned events were removed", func(t *testing.T, dir string) string {
			closeAll(t, opened(t, dir))
			execute(t, dir, "INSERT INTO id_digests (first, digests) VALUES (5, zeroblob(16))")
			return dir
		}, "is damaged: the ids from event 1 on are missing"},
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
		_, err := j.Append(context.Background(), []journal.Entry{{ID: id, Body: []byte(id)}})
		return err
	}
	if err := appended("first"); err != nil {
		t.Fatal(err)
	}
	err := j.writer.Do(t.Context(), func(b *batch) error {
		if _, err := b.append(journal.Entry{ID: "second"}); err != nil {
			return err
		}
		panic("broken")
	})
	if err == nil || !strings.Contains(err.Error(), "write the journal: panic: broken") {
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

func TestAFullDiskIsAnErrorAndTheJournalRecovers(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir).(*Journal)
	body := make([]byte, 2000)
	appended := func(n int) error {
		_, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n), Body: body}})
		return err
	}
	// The writing connection may add no page; the next one, after the failure, may.
	err := j.writer.Do(t.Context(), func(b *batch) error {
		_, err := b.writer.connection.ExecContext(b.ctx, "PRAGMA max_page_count = 1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var acknowledged []int
	failed := 0
	for n := range 20 {
		if appended(n) != nil {
			failed++
			if err := appended(n); err != nil {
				t.Fatalf("event %d again: %v", n, err)
			}
		}
		acknowledged = append(acknowledged, n)
	}
	if failed != 1 {
		t.Errorf("%d appends failed, want the one that met the full disk", failed)
	}
	if open := j.writer.db.Stats().OpenConnections; open != 1 {
		t.Errorf("%d writing connections are open", open)
	}
	closeAll(t, j)
	again := opened(t, dir)
	records, err := again.Read(t.Context(), 0, 100)
	if err != nil || len(records) != len(acknowledged) {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, r := range records {
		if r.ID != fmt.Sprint(acknowledged[i]) || r.Duplicates != 0 {
			t.Errorf("record %d is %s, repeated %d times", r.Seq, r.ID, r.Duplicates)
		}
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
