package journal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/relay/journal/journaltest"
)

func TestMemoryStallsUntilReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory("e")
		release := m.Stall()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Append(ctx, entries(1, 1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("append on a stalled journal: %v", err)
		}
		release()
		appendAll(t, m, entry(2))
		expectRange(t, m, 1, 1)
	})
}

func TestMemoryFailsOnDemand(t *testing.T) {
	m := journaltest.NewMemory("e")
	full := errors.New("disk full")
	m.Fail(full)
	if _, err := m.Append(t.Context(), entries(1, 1)); !errors.Is(err, full) {
		t.Errorf("append: %v", err)
	}
	m.Fail(nil)
	must(t, m.Check(t.Context()))
}
