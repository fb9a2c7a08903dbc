package account

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"time"

	"tillwatch/api"
)

// Bounds of the observations remembered as counted. At each start a relay sends those of the last hour again, at
// most 50,000.
const (
	mostCounted = 1 << 16
	countedFor  = 2 * time.Hour
)

// countedIDs remembers which observations are counted, across restarts: hashes of their ids, with when this
// process learnt of them. It does not use their own times: the observer's clock may be wrong.
type countedIDs map[uint64]minute

func hashOf(id api.ID) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:])
}

// add remembers an observation and reports whether it was new.
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

// forget keeps what was learnt after cut and not after now: clocks may be set back.
func (c countedIDs) forget(cut, now time.Time) {
	maps.DeleteFunc(c, func(_ uint64, at minute) bool { return at <= minuteOf(cut) || at > minuteOf(now) })
}

// memory groups the hashes by when they were learnt, for the next run.
func (c countedIDs) memory(now time.Time) map[minute][]uint64 {
	c.forget(now.Add(-countedFor), now)
	byTime := map[minute][]uint64{}
	for hash, at := range c {
		byTime[at] = append(byTime[at], hash)
	}
	return byTime
}

// recall restores what an earlier run remembered.
func (c countedIDs) recall(byTime map[minute][]uint64, now time.Time) {
	for at, hashes := range byTime {
		for _, hash := range hashes {
			if len(c) < mostCounted {
				c[hash] = min(at, minuteOf(now))
			}
		}
	}
}
