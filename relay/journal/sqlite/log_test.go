package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"tillwatch/relay/journal"
)

// logBytes is the size of the log of the journal in dir.
func logBytes(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, databaseName+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// appended appends count events of size bytes one by one, and returns the longest
// that the log was.
func appended(t *testing.T, j journal.Journal, dir string, from, count, size int) (longest int64) {
	t.Helper()
	for n := range count {
		if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(from + n), Body: make([]byte, size)}}); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, logBytes(t, dir))
	}
	return longest
}

func TestTheLogStaysShort(t *testing.T) {
	const bound = 2*logSize + maxBatch + journal.ReadBytes
	t.Run("while small events come", func(t *testing.T) {
		dir := t.TempDir()
		if longest := appended(t, opened(t, dir), dir, 0, 2000, 400); longest > bound {
			t.Errorf("it had %d bytes", longest)
		}
	})
	t.Run("while large ones come", func(t *testing.T) {
		dir := t.TempDir()
		if longest := appended(t, opened(t, dir), dir, 0, 40, 1<<20); longest > bound {
			t.Errorf("it had %d bytes", longest)
		}
	})
	t.Run("while many come together", func(t *testing.T) {
		dir := t.TempDir()
		j := opened(t, dir)
		var longest int64
		for n := range 3 {
			var tasks sync.WaitGroup
			for i := range 16 {
				tasks.Go(func() {
					entry := journal.Entry{ID: fmt.Sprint(n, i), Body: make([]byte, 1<<20)}
					if _, err := j.Append(t.Context(), []journal.Entry{entry}); err != nil {
						t.Error(err)
					}
				})
			}
			tasks.Wait()
			longest = max(longest, logBytes(t, dir))
		}
		if longest > bound {
			t.Errorf("it had %d bytes", longest)
		}
	})
	t.Run("while others read", func(t *testing.T) {
		dir := t.TempDir()
		j := opened(t, dir)
		ctx, end := context.WithCancel(t.Context())
		var tasks sync.WaitGroup
		for range readers {
			tasks.Go(func() {
				for ctx.Err() == nil {
					if _, err := j.Read(ctx, 0, 1000); err != nil && ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
		longest := appended(t, j, dir, 0, 200, 100<<10)
		end()
		tasks.Wait()
		if longest > bound+logSize { // one of them may have been slow
			t.Errorf("it had %d bytes", longest)
		}
	})
}

func TestTheLogIsCutAfterAReaderThatStayed(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	appended(t, j, dir, 0, 1, 400)
	backup, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	reading, err := backup.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reading.ExecContext(t.Context(), "BEGIN; SELECT * FROM packs"); err != nil {
		t.Fatal(err)
	}
	if longest := appended(t, j, dir, 1, 200, 100<<10); longest < 16<<20 {
		t.Errorf("the log has %d bytes although it is read", longest)
	}
	if _, err := reading.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	appended(t, j, dir, 300, 60, 100<<10)
	if size := logBytes(t, dir); size > 2*logSize {
		t.Errorf("the log has %d bytes after the reader has left", size)
	}
}

// A small disk is filled by events, not by the log, and takes more as soon as
// there is a little room.
func TestASmallDiskIsFilledByEventsAndTakesMoreOnceThereIsRoom(t *testing.T) {
	const event = 2000
	d := newDisk(t, 0)
	d.room = 12 << 20
	j := through(t, d, t.TempDir())
	fill := func(from int) (stored int) {
		for n := from; ; n++ {
			if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n), Body: make([]byte, event)}}); err != nil {
				return n - from
			}
		}
	}
	stored := fill(0)
	if stored*event < 6<<20 {
		t.Errorf("12 MiB hold %d events of %d bytes", stored, event)
	}
	if again := fill(stored); again != 0 {
		t.Errorf("%d more are stored on a full disk", again)
	}
	d.mu.Lock()
	d.room += 3 << 20
	d.mu.Unlock()
	if more := fill(stored); more*event < 1<<20 {
		t.Errorf("3 MiB more hold %d more events", more)
	} else {
		stored += more
	}
	if head, err := j.Head(t.Context()); err != nil || head != int64(stored) {
		t.Errorf("the head is %d, %d were stored; %v", head, stored, err)
	}
}
