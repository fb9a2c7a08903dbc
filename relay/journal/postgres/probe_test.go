package postgres

import (
	"errors"
	"strings"
	"testing"
)

func TestAProbeReportsAJournalAndMakesNone(t *testing.T) {
	dsn := schema(t)
	if _, err := Probe(t.Context(), dsn); !errors.Is(err, ErrNoJournal) {
		t.Errorf("of an empty database: %v", err)
	}
	if n := count(t, dsn, "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"); n != 0 {
		t.Errorf("it made %d tables", n)
	}
	appended(t, opened(t, dsn), "a", "b")
	if head, err := Probe(t.Context(), dsn); head != 2 || err != nil {
		t.Errorf("of two events: %d, %v", head, err)
	}
	execute(t, dsn, "DELETE FROM tillwatch_journal")
	if _, err := Probe(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), "but not its state") {
		t.Errorf("of a journal without its state: %v", err)
	}
}
