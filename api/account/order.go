package account

import "slices"

// touches remembers which of many records changed last, by their numbers. One that
// changed again stands in it again: its newest place counts.
type touches struct {
	ring  []touch
	total uint64 // ever
}

type touch struct {
	number  uint32
	version uint64
}

// mostTouches are remembered. Where more has changed, all is looked at, side by
// side in memory.
const mostTouches = 1 << 12

// add makes a record the one that changed last.
func (t *touches) add(number uint32, version uint64) {
	if len(t.ring) == 0 {
		t.ring = make([]touch, mostTouches)
	}
	newest := &t.ring[t.total%mostTouches]
	if newest.number != number {
		t.total++
		newest = &t.ring[t.total%mostTouches]
	}
	*newest = touch{number, version}
}

// since lists the numbers of what changed after a version, the newest first and
// some more than once. more says that these are not all.
func (t *touches) since(version uint64) (numbers []uint32, more bool) {
	if len(t.ring) > 0 && t.ring[(t.total+1)%mostTouches].version > version {
		return nil, true // the longest unchanged of them is newer
	}
	for back := range uint64(len(t.ring)) {
		newest := &t.ring[(t.total-back)%mostTouches]
		if newest.version <= version {
			return numbers, false
		}
		numbers = append(numbers, newest.number)
	}
	return numbers, false
}

// longestUnchanged turns what [touches.since] tells: the longest unchanged first,
// each once.
func longestUnchanged(numbers []uint32) []uint32 {
	known := make(map[uint32]struct{}, len(numbers))
	once := numbers[:0]
	for _, number := range numbers {
		if _, again := known[number]; !again {
			known[number] = struct{}{}
			once = append(once, number)
		}
	}
	slices.Reverse(once)
	return once
}
