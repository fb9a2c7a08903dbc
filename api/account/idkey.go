package account

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"tillwatch/api"
)

// PackedID is an intent's id of the form that the service gives, in 16 bytes and
// without a pointer: there may be 100,000.
type PackedID struct {
	high, low uint64
}

// PackID packs an id; ok is false for one of another form.
func PackID(id string) (packed PackedID, ok bool) {
	if len(id) == keyLength && id[:len(keyPrefix)] == keyPrefix {
		a, b := nibbles(id[3:11])
		c, d := nibbles(id[11:19])
		e, f := nibbles(id[19:27])
		g, h := nibbles(id[27:35])
		if b && d && f && h {
			return PackedID{a<<4 | c, e<<4 | g}, true
		}
	}
	return PackedID{}, false
}

// ID is the id that was packed.
func (p PackedID) ID() api.ID {
	var id [keyLength]byte
	p.spell(&id)
	return api.ScrubID(string(id[:]))
}

func (p PackedID) spell(id *[keyLength]byte) {
	copy(id[:], keyPrefix)
	for i, values := range p.nibbles() {
		binary.LittleEndian.PutUint64(id[len(keyPrefix)+8*i:], digitsOf(values))
	}
}

// PackNumber is in the place of an id of another form, which is kept elsewhere under
// that number.
func PackNumber(n int) PackedID { return PackedID{low: uint64(n)} }

// Number is the number that [PackNumber] was given.
func (p PackedID) Number() int { return int(p.low) }

// Compare compares as the ids themselves compare.
func (p PackedID) Compare(other PackedID) int {
	theirs := other.nibbles()
	for i, values := range p.nibbles() {
		if c := cmp.Compare(bits.ReverseBytes64(values), bits.ReverseBytes64(theirs[i])); c != 0 {
			return c
		}
	}
	return 0
}

func (p PackedID) nibbles() [4]uint64 {
	return [4]uint64{p.high >> 4 & (0x0f * eachByte), p.high & (0x0f * eachByte), p.low >> 4 & (0x0f * eachByte), p.low & (0x0f * eachByte)}
}

// sought is an intent that is looked for.
type sought struct {
	key   PackedID // of an id of another form, what most probably is its alone
	hash  uint64
	exact bool // the key is the whole id
}

const (
	keyPrefix = "ci_"
	keyLength = len(keyPrefix) + 32
)

// sought looks at an id, not yet at the intent.
func (x *intentIndex) sought(id api.ID) sought {
	key, exact := PackID(string(id))
	if !exact {
		key = PackedID{maphash.String(x.seed, string(id)), uint64(len(id))}
	}
	// Somebody else may have chosen the ids.
	high, low := bits.Mul64(key.high^x.salt[0], key.low^x.salt[1])
	return sought{key, high ^ low, exact}
}

// nibbles are the values of eight hexadecimal digits in lower case, each in the
// lower half of a byte; ok is false where there is anything else.
func nibbles(text string) (values uint64, ok bool) {
	_ = text[7]
	digits := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
	letters := digits >> 6 & eachByte
	values = digits&(0x0f*eachByte) + letters*9
	// Only what is made of such digits is told again by its values.
	return values, values&(0xf0*eachByte) == 0 && digitsOf(values) == digits
}

// digitsOf are the digits of eight such values.
func digitsOf(values uint64) uint64 {
	return values + '0'*eachByte + (values+6*eachByte)>>4&eachByte*('a'-'9'-1)
}

const eachByte = 0x0101010101010101 // one in every byte
