package account

import "math/bits"

// knownEvents remembers that events were here, by the hashes of their ids and
// without their ids. Once it holds as many as it may, those of the older half are
// forgotten first.
type knownEvents struct {
	most  int // in each half
	now   hashSet
	older hashSet
}

func (k *knownEvents) has(hash uint64) bool { return k.now.has(hash) || k.older.has(hash) }

func (k *knownEvents) add(hash uint64) {
	if k.now.count >= k.most {
		k.older, k.now = k.now, hashSet{}
	}
	k.now.add(hash)
}

// hashSet is a set of hashes in open addressing, divided so that growing never
// takes long.
type hashSet struct {
	parts []hashPart
	count int
}

type hashPart struct {
	slots []uint64 // 0 is free
	used  int
}

const hashParts = 512

func (s *hashSet) has(hash uint64) bool {
	if s.count == 0 {
		return false
	}
	p := &s.parts[hash%hashParts]
	if len(p.slots) == 0 {
		return false
	}
	_, found := p.find(max(hash, 1))
	return found
}

func (s *hashSet) add(hash uint64) {
	if s.parts == nil {
		s.parts = make([]hashPart, hashParts)
	}
	p := &s.parts[hash%hashParts]
	if p.used >= len(p.slots)-len(p.slots)/8 {
		p.grow()
	}
	if slot, found := p.find(max(hash, 1)); !found {
		p.slots[slot] = max(hash, 1)
		p.used++
		s.count++
	}
}

// find is where a hash is, or where it would be.
func (p *hashPart) find(hash uint64) (slot int, found bool) {
	high, _ := bits.Mul64(hash*0x9e3779b97f4a7c15, uint64(len(p.slots)))
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

func (p *hashPart) grow() {
	old := p.slots
	p.slots = make([]uint64, max(8, len(old)+len(old)/4))
	for _, hash := range old {
		if hash != 0 {
			slot, _ := p.find(hash)
			p.slots[slot] = hash
		}
	}
}
