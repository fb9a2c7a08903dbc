package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
)

const (
	digestSize = 16
	pageLength = 8192
)

// digest stands for an event id: the first 128 bits of its SHA-256.
type digest [digestSize]byte

func digestOf(id string) digest {
	var room [128]byte // most ids fit: no copy on the heap
	sum := sha256.Sum256(append(room[:0], id...))
	return digest(sum[:digestSize])
}

// identities finds the sequence number of every id that the journal has ever
// stored, in 24 to 28 bytes an id: the digests in the order of their sequence
// numbers, and an open-addressed table of sequence numbers over them.
type identities struct {
	pages []*[pageLength]digest
	count int64
	table []uint32 // sequence numbers, 0 for a free slot; a power of two long
}

// maxIdentities keeps sequence numbers within the table's 32 bits.
const maxIdentities = 1<<32 - 1

func newIdentities() *identities {
	return &identities{table: make([]uint32, 1024)}
}

// at returns the digest of a sequence number from 1 to count.
func (s *identities) at(seq int64) digest {
	return s.pages[(seq-1)/pageLength][(seq-1)%pageLength]
}

// find returns the sequence number of d.
func (s *identities) find(d digest) (int64, bool) {
	mask := uint64(len(s.table) - 1)
	for i := slotOf(d) & mask; s.table[i] != 0; i = (i + 1) & mask {
		if seq := int64(s.table[i]); s.at(seq) == d {
			return seq, true
		}
	}
	return 0, false
}

// add gives d the next sequence number. The caller has not found it before.
func (s *identities) add(d digest) {
	if s.count%pageLength == 0 {
		s.pages = append(s.pages, new([pageLength]digest))
	}
	s.pages[s.count/pageLength][s.count%pageLength] = d
	s.count++
	if uint64(s.count)*4 > uint64(len(s.table))*3 {
		s.grow()
		return
	}
	s.place(d, s.count)
}

func (s *identities) grow() {
	s.table = make([]uint32, 2*len(s.table))
	for seq := int64(1); seq <= s.count; seq++ {
		s.place(s.at(seq), seq)
	}
}

func (s *identities) place(d digest, seq int64) {
	mask := uint64(len(s.table) - 1)
	i := slotOf(d) & mask
	for s.table[i] != 0 {
		i = (i + 1) & mask
	}
	s.table[i] = uint32(seq)
}

func slotOf(d digest) uint64 { return binary.LittleEndian.Uint64(d[:]) }
