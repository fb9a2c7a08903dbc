package account

import "math/bits"

// knownEvents remembers that events were here, by the hashes of their ids and
// without their ids. Once it holds as many as it may, those of the older half are
// forgotten first.
type knownEvents[H uint32 | uint64] struct {
	most  int // in each half
	now   hashSet[H]
	older hashSet[H]
}

func (k *knownEvents[H]) has(hash uint64) bool { return k.now.has(hash) || k.older.has(hash) }

// forgot reports whether anything that was added may have been forgotten.
func (k *knownEvents[H]) forgot() bool { return k.older.count > 0 }

func (k *knownEvents[H]) add(hash uint64) {
	if k.now.count >= k.most {
		k.older, k.now = k.now, hashSet[H]{}
	}
	k.now.add(hash)
}

// hashSet is a set of hashes in open addressing, divided so that growing never
// takes long. Of a hash it keeps the lowest bits: 9 by the part and those of H.
type hashSet[H uint32 | uint64] struct {
	parts []hashPart[H]
	count int
}

type hashPart[H uint32 | uint64] struct {
	slots []H // 0 is free
	used  int
}

const hashParts = 512

func (s *hashSet[H]) has(hash uint64) bool {
	if s.count == 0 {
		return false
	}
	p := &s.parts[hash%hashParts]
	if len(p.slots) == 0 {
		return false
	}
	_, found := p.find(kept[H](hash))
	return found
}

func (s *hashSet[H]) add(hash uint64) {
	if s.parts == nil {
		s.parts = make([]hashPart[H], hashParts)
	}
	p := &s.parts[hash%hashParts]
	if p.used >= len(p.slots)-len(p.slots)/8 {
		p.grow()
	}
	if slot, found := p.find(kept[H](hash)); !found {
		p.slots[slot] = kept[H](hash)
		p.used++
		s.count++
	}
}

// kept is what is kept of a hash; never 0.
func kept[H uint32 | uint64](hash uint64) H { return max(H(hash>>9), 1) }

// find is where a hash is, or where it would be.
func (p *hashPart[H]) find(hash H) (slot int, found bool) {
	high, _ := bits.Mul64(uint64(hash)*0x9e3779b97f4a7c15, uint64(len(p.slots)))
	for slot = int(high); p.slots[slot] != 0; {
		if p.slots[slot] == hash {
			return slot, true
		}
		if slot++; slot == len(p.slots) {
			slot = 0
		}
	}
	return slot, false
}

func (p *hashPart[H]) grow() {
	old := p.slots
	p.slots = make([]H, max(8, len(old)+len(old)/4))
	for _, hash := range old {
		if hash != 0 {
			slot, _ := p.find(hash)
			p.slots[slot] = hash
		}
	}
}
