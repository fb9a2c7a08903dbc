package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"tillwatch/relay/journal"
)

// unlocked lets go of the locks of j, as of one on a file system that has none.
func unlocked(t *testing.T, j *Journal) {
	t.Helper()
	for _, lock := range j.claim.locks {
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOfTwoWithoutLocksTheFirstIsDisowned(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, dir).(*Journal)
	fill(t, first, 1, 10)
	unlocked(t, first)
	second := opened(t, dir)
	_, err := first.Append(t.Context(), []journal.Entry{{ID: "refused"}})
	if !errors.Is(err, journal.ErrDisowned) {
		t.Errorf("append by the first: %v", err)
	}
	fill(t, second, 11, 20)
	if err := first.Owns(t.Context()); !errors.Is(err, journal.ErrDisowned) {
		t.Errorf("the first: %v", err)
	}
	closeAll(t, first)
	fill(t, second, 21, 30)
	expectFilled(t, second, 30)
	closeAll(t, second)
	expectFilled(t, opened(t, dir), 30)
}

// The lock is on the database: it goes with it into another folder.
func TestADatabaseThatWasMovedStaysInUse(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	j := opened(t, dir)
	fill(t, j, 1, 10)
	rename(t, filepath.Join(dir, databaseName), filepath.Join(elsewhere, databaseName))
	if _, err := Open(t.Context(), elsewhere); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("open in the other folder: %v", err)
	}
	expectRefused(t, j, "was removed, renamed or replaced")
	closeAll(t, j)
	expectFilled(t, opened(t, elsewhere), 10)
}
