package relay

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tillwatch/relay/journal"
)

const (
	replayBatch = 500             // records per read of the journal
	tailBytes   = 8 << 20         // of encoded events that the tail keeps
	tailCheck   = 2 * time.Second // how often the newest event is compared with the journal while none follows
)

// tail has the newest events, encoded once for all connections. Each reads at its own cursor; those further behind
// read the journal. A tail ends with an error; the connections that read it end with it.
type tail struct {
	mu      sync.Mutex
	items   []encoded // without holes, from above first up to head
	first   int64
	head    int64 // -1 until the journal is followed
	bytes   int
	err     error         // why the journal is no longer followed
	changed chan struct{} // closed when any of these change
}

func newTail() *tail { return &tail{first: -1, head: -1, changed: make(chan struct{})} }

// news is what a tail has for a cursor.
type news struct {
	events  []encoded       // what follows the cursor
	upTo    int64           // unless 0: the cursor is too far behind; up to here the journal has to be read
	pending bool            // the journal is not followed yet
	changed <-chan struct{} // closed when there is more
}

func (t *tail) after(seq int64) (news, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := news{pending: t.head < 0, changed: t.changed}
	switch {
	case seq < t.first:
		n.upTo = t.first
	case seq < t.head:
		at, found := slices.BinarySearchFunc(t.items, seq, func(e encoded, seq int64) int { return cmp.Compare(e.seq, seq) })
		if found {
			at++
		}
		n.events = t.items[at:]
	}
	return n, t.err
}

// change changes the tail and tells those who wait.
func (t *tail) change(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	for t.bytes > tailBytes && len(t.items) > 1 {
		t.bytes -= len(t.items[0].text)
		t.first = t.items[0].seq
		t.items = t.items[1:]
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tail) add(events []encoded) {
	t.change(func() {
		t.items = append(t.items, events...)
		t.head = events[len(events)-1].seq
		for _, e := range events {
			t.bytes += len(e.text)
		}
	})
}

// follow fills the tail from the head on. It returns why that ends: when ctx does, when the journal cannot be read, or
// with errAnother.
func (t *tail) follow(ctx context.Context, j journal.Journal) (err error) {
	defer func() { t.change(func() { t.err = err }) }()
	defer journal.Recovered(&err)
	at, err := newest(ctx, j)
	if err != nil {
		return err
	}
	t.change(func() { t.first, t.head = at.seq, at.seq })
	for {
		head, err := waitOn(ctx, j, at.seq)
		if err != nil {
			return err
		}
		events, err := readEvents(ctx, j, at, head)
		if err != nil {
			return err
		}
		if len(events) > 0 {
			t.add(events)
			last := events[len(events)-1]
			at = at.after(last.seq, last.id)
		}
	}
}

// waitOn waits until there is more after a sequence number, or until it is time to look whether the journal is still
// the same. It returns the head.
func waitOn(ctx context.Context, j journal.Journal, after int64) (head int64, err error) {
	waiting, cancel := context.WithTimeout(ctx, tailCheck)
	defer cancel()
	if err := j.Wait(waiting, after); err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return 0, err
	}
	return j.Head(ctx)
}

// readEvents reads some of what follows a cursor. What is not there up to a sequence number that is stored is a gap.
func readEvents(ctx context.Context, j journal.Journal, at cursor, upTo int64) ([]encoded, error) {
	records, err := readOn(ctx, j, at, replayBatch)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 && upTo > at.seq {
		return []encoded{{from: at.seq + 1, seq: upTo, gap: true}}, nil
	}
	return encodeAll(at.seq, records)
}
