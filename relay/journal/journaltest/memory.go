// Package journaltest has a journal in memory, for tests of what stands on a journal.
package journaltest

import (
	"context"
	"slices"
	"sync"
	"time"

	"tillwatch/relay/journal"
)

// Memory is a journal in memory for tests: it keeps the contract of a journal except
// durability. A test can make its storage stall and fail.
type Memory struct {
	epoch string

	mu         sync.Mutex
	records    []journal.Record // the newest; the first has number pruned+1
	pruned     int64
	latest     time.Time // of all times of receipt
	ids        map[string]int64
	quarantine []journal.Unreadable
	moved      chan struct{} // closed when the head moves; nil when closed
	stalled    chan struct{} // open while writes hang
	lost       int64         // the sequence number of a missing record; 0 for none
	failure    error
	unreadable error
}

var _ journal.Journal = (*Memory)(nil)

// NewMemory makes an empty journal with the given epoch.
func NewMemory(epoch string) *Memory {
	return &Memory{epoch: epoch, ids: map[string]int64{}, moved: make(chan struct{})}
}

// Stall makes every write hang until the returned function is called.
func (m *Memory) Stall() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stalled := make(chan struct{})
	m.stalled = stalled
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.stalled = nil
		close(stalled)
	}
}

// Fail makes every write fail with err; with nil they succeed again.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = err
}

// FailReads makes every read fail with err; with nil they succeed again.
func (m *Memory) FailReads(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unreadable = err
}

// Lose hides the record of a sequence number, as damage would, until the returned
// function is called.
func (m *Memory) Lose(seq int64) (restore func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = seq
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lost = 0
	}
}

// write runs change under the lock once writes are possible.
func (m *Memory) write(ctx context.Context, change func()) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.mu.Lock()
		stalled := m.stalled
		if stalled == nil {
			break
		}
		m.mu.Unlock()
		select {
		case <-stalled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer m.mu.Unlock()
	switch {
	case m.moved == nil:
		return journal.ErrClosed
	case m.failure != nil:
		return m.failure
	}
	change()
	return nil
}

// Append adds entries.
func (m *Memory) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	var results []journal.Result
	err := m.write(ctx, func() {
		head := m.head()
		for _, e := range entries {
			results = append(results, m.append(e))
		}
		if m.head() > head {
			close(m.moved)
			m.moved = make(chan struct{})
		}
	})
	return results, err
}

func (m *Memory) append(e journal.Entry) journal.Result {
	seq, found := m.ids[e.ID]
	if !found {
		seq = m.head() + 1
		m.ids[e.ID] = seq
		if e.Received.After(m.latest) {
			m.latest = e.Received
		}
		m.records = append(m.records, journal.Record{Seq: seq, Entry: e, Latest: m.latest})
		return journal.Result{Seq: seq}
	}
	result := journal.Result{Seq: seq, Duplicate: true}
	if seq > m.pruned {
		record := &m.records[seq-m.pruned-1]
		record.Duplicates++
		if journal.Contradicts(record.Entry, e) {
			record.Conflicts++
			result.Conflict = true
		}
	}
	return result
}

func (m *Memory) head() int64 { return m.pruned + int64(len(m.records)) }

// read runs look under the lock.
func (m *Memory) read(ctx context.Context, look func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.moved == nil:
		return journal.ErrClosed
	case m.unreadable != nil:
		return m.unreadable
	}
	look()
	return nil
}

// Read returns records.
func (m *Memory) Read(ctx context.Context, after int64, limit int) ([]journal.Record, error) {
	var records []journal.Record
	err := m.read(ctx, func() {
		size := 0
		for _, record := range m.records[min(max(after-m.pruned, 0), int64(len(m.records))):] {
			if len(records) >= limit || size >= journal.ReadBytes {
				return
			}
			if record.Seq == m.lost {
				continue
			}
			records = append(records, record)
			size += len(record.Body)
		}
	})
	return records, err
}

// Find returns the record of id.
func (m *Memory) Find(ctx context.Context, id string) (record journal.Record, found bool, err error) {
	err = m.read(ctx, func() {
		var seq int64
		if seq, found = m.ids[id]; !found {
			return
		}
		record = journal.Record{Seq: seq, Entry: journal.Entry{ID: id}}
		if seq > m.pruned {
			record = m.records[seq-m.pruned-1]
		}
	})
	return record, found, err
}

// Head returns the newest sequence number.
func (m *Memory) Head(ctx context.Context) (head int64, err error) {
	err = m.read(ctx, func() { head = m.head() })
	return head, err
}

// Oldest returns the oldest readable sequence number.
func (m *Memory) Oldest(ctx context.Context) (oldest int64, err error) {
	err = m.read(ctx, func() { oldest = m.pruned + 1 })
	return oldest, err
}

// Epoch returns the name given to [NewMemory].
func (m *Memory) Epoch() string { return m.epoch }

// Wait waits for the head to pass after.
func (m *Memory) Wait(ctx context.Context, after int64) error {
	return journal.Await(ctx, after, func() (head int64, moved <-chan struct{}, err error) {
		err = m.read(ctx, func() { head, moved = m.head(), m.moved })
		return head, moved, err
	})
}

// Prune removes old records.
func (m *Memory) Prune(ctx context.Context, t time.Time) (removed int64, err error) {
	err = m.write(ctx, func() {
		keep := slices.IndexFunc(m.records, func(r journal.Record) bool { return !r.Received.Before(t) })
		if keep < 0 {
			keep = len(m.records)
		}
		m.records = slices.Delete(m.records, 0, keep)
		removed = int64(keep)
		m.pruned += removed
		m.quarantine = slices.DeleteFunc(m.quarantine, func(u journal.Unreadable) bool { return u.Received.Before(t) })
	})
	return removed, err
}

// Quarantine keeps u, and the newest of earlier ones.
func (m *Memory) Quarantine(ctx context.Context, u journal.Unreadable) error {
	return m.write(ctx, func() {
		m.quarantine = append(m.quarantine, u)
		m.quarantine = m.quarantine[max(0, len(m.quarantine)-journal.MostQuarantined):]
	})
}

// Quarantined returns the newest of what Quarantine kept.
func (m *Memory) Quarantined(ctx context.Context, limit int) (all []journal.Unreadable, err error) {
	err = m.read(ctx, func() {
		size := 0
		for _, u := range slices.Backward(m.quarantine) {
			if len(all) >= limit || size >= journal.QuarantineBytes {
				return
			}
			all = append(all, u)
			size += len(u.Body)
		}
	})
	return all, err
}

// Check reports whether writes are possible.
func (m *Memory) Check(ctx context.Context) error { return m.write(ctx, func() {}) }

// Close ends every call from now on with [journal.ErrClosed].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moved != nil {
		close(m.moved)
		m.moved = nil
	}
	return nil
}
