package account

import (
	"hash/maphash"
	"math/bits"

	"tillwatch/api"
)

// intentIndex finds intents by their ids. Beside the number of an intent stands a
// part of its key's hash, so that a look for one mostly touches one slot and one
// record. It is divided, so that growing never takes long.
type intentIndex struct {
	seed  maphash.Seed
	salt  [2]uint64
	parts [indexParts]indexPart
}

type indexPart struct {
	slots []indexSlot
	used  int
}

type indexSlot struct {
	hash   uint32
	number uint32 // 0 is free
}

const indexParts = 64

func newIntentIndex() intentIndex {
	seed := maphash.MakeSeed()
	return intentIndex{seed: seed, salt: [2]uint64{maphash.String(seed, "high"), maphash.String(seed, "low")}}
}

// findIntent is the record of an intent; nil when it is not known.
func (s *Store) findIntent(id api.ID) *intentRecord {
	q := s.intents.sought(id)
	return s.findSought(&q, id)
}

func (s *Store) findSought(q *sought, id api.ID) *intentRecord {
	p := &s.intents.parts[q.hash%indexParts]
	if len(p.slots) == 0 {
		return nil
	}
	kept := uint32(q.hash >> 32)
	for at := p.home(kept); p.slots[at].number != 0; at = p.next(at) {
		if p.slots[at].hash != kept {
			continue
		}
		if r := s.intentBlocks.at(p.slots[at].number); r.key == q.key && s.isSought(r, q, id) {
			return r
		}
	}
	return nil
}

// isSought reports whether a record with the key of an intent that is looked for is
// its record.
func (s *Store) isSought(r *intentRecord, q *sought, id api.ID) bool {
	other, is := s.otherIDOf(r)
	return q.exact && !is || is && other == id
}

// add takes in an intent that is not in it.
func (x *intentIndex) add(hash uint64, number uint32) {
	p := &x.parts[hash%indexParts]
	if p.used >= len(p.slots)-len(p.slots)/4 {
		p.grow()
	}
	p.put(indexSlot{uint32(hash >> 32), number})
	p.used++
}

func (p *indexPart) put(slot indexSlot) {
	at := p.home(slot.hash)
	for p.slots[at].number != 0 {
		at = p.next(at)
	}
	p.slots[at] = slot
}

// home is where a hash belongs.
func (p *indexPart) home(hash uint32) int {
	high, _ := bits.Mul32(hash, uint32(len(p.slots)))
	return int(high)
}

func (p *indexPart) next(at int) int {
	if at++; at == len(p.slots) {
		return 0
	}
	return at
}

func (p *indexPart) grow() {
	old := p.slots
	p.slots = make([]indexSlot, max(9, 2*len(old)))
	for _, slot := range old {
		if slot.number != 0 {
			p.put(slot)
		}
	}
}
