package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tillwatch/relay/journal"
)

// watched is a journal that remembers a failed read until the same read succeeds: a relay that cannot read what it
// has acknowledged is not ready.
type watched struct {
	journal.Journal

	mu     sync.Mutex
	failed *failedRead // the newest; nil for none
}

// failedRead is a read that failed, to be repeated.
type failedRead struct {
	repeat func(context.Context) error
}

// lost returns which events the journal has lost, as far as it can tell; none if from is above to.
func (w *watched) lost() (from, to int64) {
	if teller, can := w.Journal.(interface{ Lost() (from, to int64) }); can {
		return teller.Lost()
	}
	return 1, 0
}

// Read also reports a hole in what it read as an error: a reader that continued would never notice.
func (w *watched) Read(ctx context.Context, after int64, limit int) ([]journal.Record, error) {
	return try(ctx, w, func(ctx context.Context) ([]journal.Record, error) { return w.readRun(ctx, max(after, 0)+1, limit) })
}

// readRun reads from sequence number first on.
func (w *watched) readRun(ctx context.Context, first int64, limit int) ([]journal.Record, error) {
	records, err := w.Journal.Read(ctx, first-1, limit)
	if err != nil || limit <= 0 {
		return nil, err
	}
	if len(records) == 0 {
		head, err := w.Head(ctx)
		if err != nil || head < first {
			return nil, err
		}
		// It was appended after the read, or it is missing.
		if records, err = w.Journal.Read(ctx, first-1, limit); err != nil {
			return nil, err
		}
	}
	return records, w.checkRun(ctx, first, records)
}

func (w *watched) Find(ctx context.Context, id string) (journal.Record, bool, error) {
	type answer struct {
		record journal.Record
		found  bool
	}
	a, err := try(ctx, w, func(ctx context.Context) (a answer, err error) {
		a.record, a.found, err = w.Journal.Find(ctx, id)
		return a, err
	})
	return a.record, a.found, err
}

func (w *watched) Quarantined(ctx context.Context, limit int) ([]journal.Unreadable, error) {
	return try(ctx, w, func(ctx context.Context) ([]journal.Unreadable, error) { return w.Journal.Quarantined(ctx, limit) })
}

// checkRun reports which of the records from first on are missing, unless the journal has pruned them.
func (w *watched) checkRun(ctx context.Context, first int64, records []journal.Record) error {
	for i, r := range records {
		if i > 0 && r.Seq != records[i-1].Seq+1 {
			return missing(records[i-1].Seq + 1)
		}
	}
	if len(records) > 0 && records[0].Seq == first {
		return nil
	}
	oldest, err := w.Oldest(ctx)
	if err != nil {
		return err
	}
	if oldest <= first {
		return missing(first)
	}
	return nil
}

func missing(seq int64) error { return fmt.Errorf("event %d is missing", seq) }

// try runs a read, and remembers it if it fails for reasons of its own.
func try[V any](ctx context.Context, w *watched, read func(context.Context) (V, error)) (value V, err error) {
	if value, err = read(ctx); err == nil {
		return value, nil
	}
	if ctx.Err() == nil && !errors.Is(err, journal.ErrClosed) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = &failedRead{repeat: func(ctx context.Context) error {
			_, err := read(ctx)
			return err
		}}
	}
	var none V
	return none, err
}

// checkReads repeats the read that failed, and reads the oldest and the newest event.
func (w *watched) checkReads(ctx context.Context) error {
	w.mu.Lock()
	failed := w.failed
	w.mu.Unlock()
	if failed != nil {
		if err := failed.repeat(ctx); err != nil {
			return err
		}
		w.mu.Lock()
		if w.failed == failed { // no other read has failed in the meantime
			w.failed = nil
		}
		w.mu.Unlock()
	}
	head, err := w.Head(ctx)
	if err != nil {
		return err
	}
	oldest, err := w.Oldest(ctx)
	if err != nil {
		return err
	}
	for _, seq := range []int64{oldest, head} {
		if _, err := w.Read(ctx, seq-1, 1); err != nil {
			return err
		}
	}
	return nil
}
