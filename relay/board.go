package relay

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"tillwatch/relay/journal"
)

// The bounds of a board, whichever is reached first.
const (
	boardSpan  = time.Hour
	boardItems = 50_000
	boardBytes = 24 << 20
)

// board holds the observations of the last hour, as far as there is room, encoded once for all connections. Each
// connection reads at its own position.
type board struct {
	mu     sync.RWMutex
	items  []journal.Observation // in order of position
	bytes  int
	known  map[string]struct{} // the ids of the items
	newest int64               // the highest position so far
	since  time.Time           // observations before may be missing; zero: none of the last hour's are
}

// newBoard returns a board of what is observed from since on.
func newBoard(since time.Time) *board { return &board{known: map[string]struct{}{}, since: since} }

// position returns the position of what was observed at t.
func position(t time.Time) int64 { return t.UnixMicro() }

// add adds new observations and drops the oldest. It returns how many are new, and how many were dropped before
// their hour was over. An observation without a position gets the next one.
func (b *board) add(items []journal.Observation, now time.Time) (fresh, dropped int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, item := range items {
		if item.Position == 0 {
			item.Position = max(b.newest+1, position(now))
		}
		if _, is := b.known[item.ID]; is || item.Position <= b.newest {
			continue // already here, or already dropped
		}
		b.newest = item.Position
		fresh++
		b.known[item.ID] = struct{}{}
		b.items = append(b.items, item)
		b.bytes += len(item.Text)
	}
	return fresh, b.trim(position(now.Add(-boardSpan)))
}

// trim drops what is before the position oldest, and then the oldest if there are too many, whose number it
// returns.
func (b *board) trim(oldest int64) (dropped int) {
	gone := 0
	for gone < len(b.items) {
		item := &b.items[gone]
		full := len(b.items)-gone > boardItems || b.bytes > boardBytes
		if item.Position >= oldest && !full {
			break
		}
		if item.Position >= oldest {
			dropped++
			b.since = time.UnixMicro(item.Position)
		}
		b.bytes -= len(item.Text)
		delete(b.known, item.ID)
		*item = journal.Observation{}
		gone++
	}
	b.items = b.items[gone:]
	return dropped
}

// after returns the encoded observations after position at, at most limit bytes but at least one if there is one,
// the position of the last, and whether there is more.
func (b *board) after(at int64, limit int, now time.Time) (texts [][]byte, last int64, more bool) {
	at = max(at, position(now.Add(-boardSpan))-1)
	b.mu.RLock()
	defer b.mu.RUnlock()
	next, _ := slices.BinarySearchFunc(b.items, at+1, func(item journal.Observation, at int64) int {
		return cmp.Compare(item.Position, at)
	})
	for _, item := range b.items[next:] {
		if len(texts) > 0 && limit < len(item.Text) {
			return texts, last, true
		}
		limit -= len(item.Text)
		texts, last = append(texts, item.Text), item.Position
	}
	return texts, last, false
}

// wholeSince returns since when the board has everything observed; zero: for an hour.
func (b *board) wholeSince(now time.Time) time.Time {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.since.Before(now.Add(-boardSpan)) {
		return time.Time{}
	}
	return b.since
}

// head returns the highest position so far.
func (b *board) head() int64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.newest
}

// count returns the number of observations.
func (b *board) count() int64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return int64(len(b.items))
}
