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

// fingerprintPart is one of open addressing. Behind the slots that are homes there
// are a few more, of which the last stays free.
type fingerprintPart struct {
	slots []uint32 // 0 is free
	homes int
	used  int
}

const (
	fingerprintParts = 512
	beyondHomes      = 16
)

// fingerprint is what a part holds of a hash; never 0.
func fingerprint(hash uint64) uint32 { return max(uint32(hash>>32), 1) }

func (f *fingerprints) has(hash uint64) bool {
	if f.parts == nil {
		return false
	}
	p := &f.parts[hash%fingerprintParts]
	if p.used == 0 {
		return false
	}
	print := fingerprint(hash)
	for _, other := range p.slots[p.home(print):] {
		if other == 0 || other == print {
			return other == print
		}
	}
	return false
}

func (f *fingerprints) add(hash uint64) {
	if f.parts == nil {
		f.parts = make([]fingerprintPart, fingerprintParts)
	}
	p := &f.parts[hash%fingerprintParts]
	if p.isFull() || !p.put(fingerprint(hash)) {
		p.grow(fingerprint(hash))
	}
	p.used++
}

// remove takes out one of this fingerprint, and closes the hole.
func (f *fingerprints) remove(hash uint64) {
	if !f.has(hash) {
		return
	}
	p, print := &f.parts[hash%fingerprintParts], fingerprint(hash)
	hole := p.home(print)
	for p.slots[hole] != print {
		hole++
	}
	for at := hole + 1; p.slots[at] != 0; at++ {
		if p.home(p.slots[at]) <= hole {
			p.slots[hole], hole = p.slots[at], at
		}
	}
	p.slots[hole] = 0
	p.used--
}

// home is where a fingerprint belongs.
func (p *fingerprintPart) home(print uint32) int {
	high, _ := bits.Mul32(print, uint32(p.homes))
	return int(high)
}

// put reports whether there was a place for a fingerprint.
func (p *fingerprintPart) put(print uint32) bool {
	at := p.home(print)
	for at < len(p.slots)-1 && p.slots[at] != 0 {
		at++
	}
	if at >= len(p.slots)-1 {
		return false
	}
	p.slots[at] = print
	return true
}

func (p *fingerprintPart) isFull() bool { return p.used >= p.homes-p.homes/5 }

// grow makes room for more, and puts one there.
func (p *fingerprintPart) grow(more uint32) {
	old, beyond := p.slots, 2*(len(p.slots)-p.homes)
	if p.isFull() {
		p.homes, beyond = max(10, 2*p.homes), beyondHomes
	}
	for all := false; !all; beyond *= 2 {
		p.slots = make([]uint32, p.homes+beyond)
		all = p.put(more)
		for _, print := range old {
			all = all && (print == 0 || p.put(print))
		}
	}
}
