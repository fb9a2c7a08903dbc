package account

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"time"

	"tillwatch/api"
)

// Bounds of what is remembered of observations that are counted. A relay tells the
// last hour again at each start, of at most 50,000.
const (
	mostCounted = 1 << 16
	countedFor  = 2 * time.Hour
)

// countedIDs remembers observations that are counted, over a restart too, by hashes of
// their ids and when they became known. When they say they were sent does not matter:
// the clock of who observed them may be wrong.
type countedIDs map[uint64]minute

func hashOf(id api.ID) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:])
}

// add reports whether an observation was not counted yet, and remembers it.
func (c countedIDs) add(id api.ID, now time.Time) (fresh bool) {
	hash := hashOf(id)
	if _, counted := c[hash]; counted {
		return false
	}
	for age := countedFor; len(c) >= mostCounted; age /= 2 {
		c.forget(now.Add(-age), now)
	}
	c[hash] = minuteOf(now)
	return true
}

// forget keeps what became known after cut and, as clocks may be set back, by now.
func (c countedIDs) forget(cut, now time.Time) {
	maps.DeleteFunc(c, func(_ uint64, at minute) bool { return at <= minuteOf(cut) || at > minuteOf(now) })
}

// memory is what the next run needs of it, by when it became known.
func (c countedIDs) memory(now time.Time) map[minute][]uint64 {
	c.forget(now.Add(-countedFor), now)
	byTime := map[minute][]uint64{}
	for hash, at := range c {
		byTime[at] = append(byTime[at], hash)
	}
	return byTime
}

// recall takes what an earlier run remembered.
func (c countedIDs) recall(byTime map[minute][]uint64, now time.Time) {
	for at, hashes := range byTime {
		for _, hash := range hashes {
			if len(c) < mostCounted {
				c[hash] = min(at, minuteOf(now))
			}
		}
	}
}
