package journaltest

import (
	"testing"
	"time"

	"tillwatch/relay/journal"
)

func prune(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 10)...)
	removed, err := j.Prune(t.Context(), entry(4).Received)
	must(t, err)
	if removed != 3 {
		t.Errorf("removed %d, want 3", removed)
	}
	expectRange(t, j, 4, 10)
	if results := appendAll(t, j, entry(2)); results[0] != (journal.Result{Seq: 2, Duplicate: true}) {
		t.Errorf("a pruned id again: %+v", results[0])
	}
	record, found, err := j.Find(t.Context(), entry(2).ID)
	must(t, err)
	if !found || record.Seq != 2 || record.ID != entry(2).ID || record.Body != nil {
		t.Errorf("a pruned id is found as %v, %+v", found, record)
	}
	if removed, err := j.Prune(t.Context(), entry(4).Received); removed != 0 || err != nil {
		t.Errorf("a second prune removed %d, error %v", removed, err)
	}
}

func pruneAll(t *testing.T, s *subject) {
	j := s.opened()
	appendAll(t, j, entries(1, 5)...)
	_, err := j.Prune(t.Context(), start.Add(time.Hour))
	must(t, err)
	expectRange(t, j, 6, 5)
	if results := appendAll(t, j, entry(6)); results[0].Seq != 6 {
		t.Errorf("the next is %d, want 6", results[0].Seq)
	}
	expectRange(t, j, 6, 6)
}
