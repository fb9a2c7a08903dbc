package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tillwatch/relay/journal"
)

func TestTheOldestBodiesGoUntilTheJournalHasItsSizeAndTheirIDsStay(t *testing.T) {
	const events, limit = 6000, 2 << 20
	dir := t.TempDir()
	j := opened(t, dir).(*Journal)
	all := make([]journal.Entry, events)
	for n := range all {
		all[n] = journal.Entry{ID: fmt.Sprint("evt_", n+1), Type: "a", Body: make([]byte, 1000)}
	}
	if _, err := j.Append(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	before, err := j.Size(t.Context())
	if err != nil || before < events*1000 {
		t.Fatalf("the size is %d, %v", before, err)
	}
	removed, err := j.PruneTo(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	after, err := j.Size(t.Context())
	if err != nil || after > limit || after < limit*3/4 {
		t.Errorf("the size is %d, %v; want up to %d", after, err, limit)
	}
	oldest, err := j.Oldest(t.Context())
	if err != nil || oldest != removed+1 {
		t.Errorf("%d were removed and the oldest is %d, %v", removed, oldest, err)
	}
	if again, err := j.PruneTo(t.Context(), limit); err != nil || again != 0 {
		t.Errorf("again: %d, %v", again, err)
	}
	closeAll(t, j)
	j = opened(t, dir).(*Journal)
	results, err := j.Append(t.Context(), all[:1])
	if err != nil || !results[0].Duplicate || results[0].Seq != 1 {
		t.Errorf("a pruned event that comes again: %+v, %v", results, err)
	}
	if removed, err := j.PruneTo(t.Context(), 0); err != nil || removed == 0 {
		t.Errorf("to nothing: %d, %v", removed, err)
	}
	if head, _ := j.Head(t.Context()); head != events {
		t.Errorf("the head is %d after everything was pruned", head)
	}
}

func TestQuarantinedBodiesTakeAQuarterOfTheSizeAtMost(t *testing.T) {
	const limit = 4 << 20
	j := opened(t, t.TempDir()).(*Journal)
	event := journal.Entry{ID: "evt_1", Type: "a", Body: make([]byte, 1000)}
	if _, err := j.Append(t.Context(), []journal.Entry{event}); err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		u := journal.Unreadable{Reason: "not JSON", Body: make([]byte, limit/10)}
		u.Body[0] = byte(n)
		if err := j.Quarantine(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	if removed, err := j.PruneTo(t.Context(), limit); err != nil || removed != 0 {
		t.Errorf("%d events were removed, %v", removed, err)
	}
	kept, err := j.Quarantined(t.Context(), 12)
	if err != nil || len(kept) != 2 || kept[0].Body[0] != 11 {
		t.Errorf("%d quarantined bodies are kept, %v; want the newest two", len(kept), err)
	}
}

// TestAPruneWhoseCallerLeftSharesNothingWithIt is for the race detector.
func TestAPruneWhoseCallerLeftSharesNothingWithIt(t *testing.T) {
	j := opened(t, t.TempDir()).(*Journal)
	ctx, leave := context.WithCancel(t.Context())
	_, err := j.prune(ctx, func(*batch) (int64, error) {
		leave()
		return 1, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
