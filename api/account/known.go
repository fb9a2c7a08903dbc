package account

import (
	"hash/maphash"

	"tillwatch/api"
)

// knownIDs remembers ids by their hashes, in two halves. When one half is full, the older one is forgotten.
type knownIDs struct {
	seed       maphash.Seed
	most       int // ids in each half
	now, older map[uint64]struct{}
}

func newKnownIDs(most int) knownIDs {
	return knownIDs{seed: maphash.MakeSeed(), most: most, now: map[uint64]struct{}{}}
}

// newPast remembers what is let go by a store that keeps so many ended intents.
func newPast(keep int) knownIDs { return newKnownIDs(max(1<<13, 4*keep)) }

func (k *knownIDs) has(id api.ID) bool {
	hash := maphash.String(k.seed, string(id))
	if _, ok := k.now[hash]; ok {
		return true
	}
	_, ok := k.older[hash]
	return ok
}

func (k *knownIDs) add(id api.ID) {
	if len(k.now) >= k.most {
		k.older, k.now = k.now, map[uint64]struct{}{}
	}
	k.now[maphash.String(k.seed, string(id))] = struct{}{}
}
