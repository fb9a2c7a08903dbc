package relay

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

// faultyJournal is a journal in files. A test can make its storage stall and fail.
type faultyJournal struct {
	journal.Journal

	mu         sync.Mutex
	stalled    chan struct{} // open while writes hang
	failure    error         // of writes
	unreadable error         // of reads
	lost       []int64       // the sequence numbers of damaged records
}

// newMemory opens an empty journal for one test.
func newMemory(t testing.TB) *faultyJournal {
	t.Helper()
	j, err := sqlite.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return &faultyJournal{Journal: j}
}

// Stall makes every write hang until the returned function is called.
func (j *faultyJournal) Stall() (release func()) {
	stalled := make(chan struct{})
	j.set(func() { j.stalled = stalled })
	return func() {
		j.set(func() { j.stalled = nil })
		close(stalled)
	}
}

// Fail makes every write fail with err; with nil they succeed again.
func (j *faultyJournal) Fail(err error) { j.set(func() { j.failure = err }) }

// FailReads makes every read fail with err; with nil they succeed again.
func (j *faultyJournal) FailReads(err error) { j.set(func() { j.unreadable = err }) }

// Lose damages the records of sequence numbers.
func (j *faultyJournal) Lose(seqs ...int64) { j.set(func() { j.lost = append(j.lost, seqs...) }) }

// Epoch is the same in each test, as cursors have it.
func (j *faultyJournal) Epoch() string { return "epoch" }

func (j *faultyJournal) set(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

func (j *faultyJournal) writable(ctx context.Context) error {
	j.mu.Lock()
	stalled, failure := j.stalled, j.failure
	j.mu.Unlock()
	if stalled != nil {
		select {
		case <-stalled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return failure
}

func (j *faultyJournal) readable() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.unreadable
}

func (j *faultyJournal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	if err := j.writable(ctx); err != nil {
		return nil, err
	}
	return j.Journal.Append(ctx, entries)
}

func (j *faultyJournal) Quarantine(ctx context.Context, u journal.Unreadable) error {
	if err := j.writable(ctx); err != nil {
		return err
	}
	return j.Journal.Quarantine(ctx, u)
}

func (j *faultyJournal) Prune(ctx context.Context, t time.Time) (int64, error) {
	if err := j.writable(ctx); err != nil {
		return 0, err
	}
	return j.Journal.Prune(ctx, t)
}

func (j *faultyJournal) Check(ctx context.Context) error {
	if err := j.writable(ctx); err != nil {
		return err
	}
	return j.Journal.Check(ctx)
}

func (j *faultyJournal) Read(ctx context.Context, after int64, limit int) ([]journal.Record, error) {
	if err := j.readable(); err != nil {
		return nil, err
	}
	records, err := j.Journal.Read(ctx, after, limit)
	for i, r := range records {
		if slices.Contains(j.lost, r.Seq) {
			records[i] = journal.Record{Seq: r.Seq, Damaged: true}
		}
	}
	return records, err
}

func (j *faultyJournal) Find(ctx context.Context, id string) (journal.Record, bool, error) {
	if err := j.readable(); err != nil {
		return journal.Record{}, false, err
	}
	r, found, err := j.Journal.Find(ctx, id)
	if slices.Contains(j.lost, r.Seq) {
		r = journal.Record{Seq: r.Seq, Damaged: true, Entry: journal.Entry{ID: id}}
	}
	return r, found, err
}
