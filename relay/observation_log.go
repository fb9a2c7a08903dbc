package relay

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// The bounds of the log, whichever is reached first.
const (
	observationSpan     = time.Hour
	maxObservations     = 50_000
	maxObservationBytes = 24 << 20
)

// observation is the encoded observation of one request.
type observation struct {
	position int64 // when it came, in microseconds since 1970; strictly increasing
	id       string
	text     []byte
}

// observationLog holds the observations of the last hour, as far as there is room, encoded once for all connections. Each
// connection reads at its own position.
type observationLog struct {
	mu     sync.RWMutex
	items  []observation // in order of position
	bytes  int
	known  map[string]struct{} // the ids of the items
	newest int64               // the highest position so far
	since  time.Time           // earlier observations may be missing; zero: none of the last hour's are
}

// newObservationLog returns a log of what is observed from since on.
func newObservationLog(since time.Time) *observationLog {
	return &observationLog{known: map[string]struct{}{}, since: since}
}

// position returns the position of what was observed at t.
func position(t time.Time) int64 { return t.UnixMicro() }

// add adds new observations and drops the oldest. It returns how many are new, and how many were dropped before
// their hour was over.
func (l *observationLog) add(items []observation, now time.Time) (fresh, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, item := range items {
		if _, is := l.known[item.id]; is {
			continue
		}
		item.position = max(l.newest+1, position(now))
		l.newest = item.position
		fresh++
		l.known[item.id] = struct{}{}
		l.items = append(l.items, item)
		l.bytes += len(item.text)
	}
	return fresh, l.trim(position(now.Add(-observationSpan)))
}

// trim drops what is before the position oldest, and then the oldest if there are too many, whose number it
// returns.
func (l *observationLog) trim(oldest int64) (dropped int) {
	gone := 0
	for gone < len(l.items) {
		item := &l.items[gone]
		full := len(l.items)-gone > maxObservations || l.bytes > maxObservationBytes
		if item.position >= oldest && !full {
			break
		}
		if item.position >= oldest {
			dropped++
			l.since = time.UnixMicro(item.position)
		}
		l.bytes -= len(item.text)
		delete(l.known, item.id)
		*item = observation{}
		gone++
	}
	l.items = l.items[gone:]
	return dropped
}

// after returns the encoded observations after position at, at most limit bytes but at least one if there is one,
// the position of the last, and whether there is more.
func (l *observationLog) after(at int64, limit int, now time.Time) (texts [][]byte, last int64, more bool) {
	at = max(at, position(now.Add(-observationSpan))-1)
	l.mu.RLock()
	defer l.mu.RUnlock()
	next, _ := slices.BinarySearchFunc(l.items, at+1, func(item observation, at int64) int {
		return cmp.Compare(item.position, at)
	})
	for _, item := range l.items[next:] {
		if len(texts) > 0 && limit < len(item.text) {
			return texts, last, true
		}
		limit -= len(item.text)
		texts, last = append(texts, item.text), item.position
	}
	return texts, last, false
}

// wholeSince returns since when the log has every observation; zero: for the whole last hour.
func (l *observationLog) wholeSince(now time.Time) time.Time {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.since.Before(now.Add(-observationSpan)) {
		return time.Time{}
	}
	return l.since
}

// head returns the highest position so far.
func (l *observationLog) head() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.newest
}

// count returns the number of observations.
func (l *observationLog) count() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return int64(len(l.items))
}
