package account

import (
	"math/bits"

	"tillwatch/api"
)

// eventIndex finds the kept events by the hashes of their ids, in open
// addressing: beside the place of an event in the ring of those that are kept
// stands a part of its hash.
type eventIndex struct {
	slots []indexSlot // its numbers are places, counted from 1
	shift int
}

// newEventIndex has room for so many events and more than twice as much.
func newEventIndex(keep int) eventIndex {
	width := max(bits.Len(uint(keep))+1, 3)
	return eventIndex{slots: make([]indexSlot, 1<<width), shift: 64 - width}
}

func (x *eventIndex) home(hash uint32) uint32 {
	return uint32(uint64(hash) * 0x9e3779b97f4a7c15 >> x.shift)
}

// find is the kept event of an id with this hash; nil for none.
func (l *eventLog) find(hash uint64, id api.ID) *eventRecord {
	x := &l.index
	kept, mask := uint32(hash), uint32(len(x.slots)-1)
	for at := x.home(kept); x.slots[at].number != 0; at = (at + 1) & mask {
		if x.slots[at].hash != kept {
			continue
		}
		if r := l.kept.at(x.slots[at].number); r.hash == hash && r.id == id {
			return r
		}
	}
	return nil
}

func (x *eventIndex) add(hash uint64, place int) {
	kept, mask := uint32(hash), uint32(len(x.slots)-1)
	at := x.home(kept)
	for x.slots[at].number != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = indexSlot{kept, uint32(place) + 1}
}

// remove takes out what stands for a place, and closes the hole.
func (x *eventIndex) remove(hash uint64, place int) {
	kept, mask := uint32(hash), uint32(len(x.slots)-1)
	hole := x.home(kept)
	for x.slots[hole].number != uint32(place)+1 {
		if x.slots[hole].number == 0 {
			return
		}
		hole = (hole + 1) & mask
	}
	for at := (hole + 1) & mask; x.slots[at].number != 0; at = (at + 1) & mask {
		if home := x.home(x.slots[at].hash); (at-home)&mask >= (at-hole)&mask {
			x.slots[hole] = x.slots[at]
			hole = at
		}
	}
	x.slots[hole] = indexSlot{}
}
