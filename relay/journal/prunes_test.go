package journal_test

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
	expectResults(t, appendAll(t, j, entry(2)), journal.Result{Seq: 2, Duplicate: true})
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
	expectResults(t, appendAll(t, j, entry(6)), journal.Result{Seq: 6})
	expectRange(t, j, 6, 6)
}
