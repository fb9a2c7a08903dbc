package account

import "math/bits"

// fingerprints tells of most events at one glance that they stand in no timeline:
// of each that does it holds 41 bits of its id's hash, 9 by the part and 32 there.
// What it says yes to is looked up in the timeline itself. An event whose bits
// another has, too, is held beside it, so that to remove one leaves the other. It
// is divided, so that growing never takes long.
type fingerprints struct {
	parts []fingerprintPart
}

type fingerprintPart struct {
	slots []uint32 // 0 is free
	used  int
}

const fingerprintParts = 512

func (f *fingerprints) part(hash uint64) *fingerprintPart {
	if f.parts == nil {
		f.parts = make([]fingerprintPart, fingerprintParts)
	}
	return &f.parts[hash%fingerprintParts]
}

// fingerprint is what a part holds of a hash; never 0.
func fingerprint(hash uint64) uint32 { return max(uint32(hash>>32), 1) }

func (f *fingerprints) has(hash uint64) bool {
	p := f.part(hash)
	if p.used == 0 {
		return false
	}
	print := fingerprint(hash)
	for at := p.home(print); p.slots[at] != 0; at = p.next(at) {
		if p.slots[at] == print {
			return true
		}
	}
	return false
}

func (f *fingerprints) add(hash uint64) {
	p := f.part(hash)
	if p.used >= len(p.slots)-len(p.slots)/4 {
		p.grow()
	}
	p.put(fingerprint(hash))
	p.used++
}

// remove takes out one of this fingerprint, and closes the hole.
func (f *fingerprints) remove(hash uint64) {
	p := f.part(hash)
	if p.used == 0 {
		return
	}
	print := fingerprint(hash)
	hole := p.home(print)
	for p.slots[hole] != print {
		if p.slots[hole] == 0 {
			return
		}
		hole = p.next(hole)
	}
	for at := p.next(hole); p.slots[at] != 0; at = p.next(at) {
		if p.distance(p.home(p.slots[at]), at) >= p.distance(hole, at) {
			p.slots[hole], hole = p.slots[at], at
		}
	}
	p.slots[hole] = 0
	p.used--
}

// home is where a fingerprint belongs.
func (p *fingerprintPart) home(print uint32) int {
	high, _ := bits.Mul32(print, uint32(len(p.slots)))
	return int(high)
}

func (p *fingerprintPart) next(at int) int {
	if at++; at == len(p.slots) {
		return 0
	}
	return at
}

// distance is how far it is from one slot to another.
func (p *fingerprintPart) distance(from, to int) int {
	if to < from {
		to += len(p.slots)
	}
	return to - from
}

func (p *fingerprintPart) put(print uint32) {
	at := p.home(print)
	for p.slots[at] != 0 {
		at = p.next(at)
	}
	p.slots[at] = print
}

func (p *fingerprintPart) grow() {
	old := p.slots
	p.slots = make([]uint32, max(8, len(old)+len(old)/2))
	for _, print := range old {
		if print != 0 {
			p.put(print)
		}
	}
}
