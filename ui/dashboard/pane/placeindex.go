package pane

import (
	"hash/maphash"
	"math/bits"
)

// placeIndex finds places by ids, in open addressing: beside a place stands a
// part of its id's hash, so that a look mostly touches one slot and one intent.
type placeIndex struct {
	seed  maphash.Seed
	slots []placeSlot
	used  int
}

type placeSlot struct {
	hash  uint32
	place uint32 // counted from 1; 0 is free
}

func newPlaceIndex() placeIndex { return placeIndex{seed: maphash.MakeSeed()} }

func (x *placeIndex) hash(id string) uint32 { return uint32(maphash.String(x.seed, id) >> 32) }

// find is the place of the hash of an id that is the one.
func (x *placeIndex) find(id string, isIt func(place uint32) bool) (uint32, bool) {
	if x.used == 0 {
		return 0, false
	}
	hash := x.hash(id)
	for at := x.home(hash); x.slots[at].place != 0; at = x.next(at) {
		if place := x.slots[at].place - 1; x.slots[at].hash == hash && isIt(place) {
			return place, true
		}
	}
	return 0, false
}

func (x *placeIndex) add(id string, place uint32) {
	if x.used >= len(x.slots)-len(x.slots)/8 {
		old := x.slots
		x.slots = make([]placeSlot, max(64, len(old)+len(old)/4))
		for _, slot := range old {
			if slot.place != 0 {
				x.put(slot)
			}
		}
	}
	x.put(placeSlot{x.hash(id), place + 1})
	x.used++
}

func (x *placeIndex) put(slot placeSlot) {
	at := x.home(slot.hash)
	for x.slots[at].place != 0 {
		at = x.next(at)
	}
	x.slots[at] = slot
}

// home is where a hash belongs.
func (x *placeIndex) home(hash uint32) int {
	high, _ := bits.Mul32(hash, uint32(len(x.slots)))
	return int(high)
}

func (x *placeIndex) next(at int) int {
	if at++; at == len(x.slots) {
		return 0
	}
	return at
}
