package account

import (
	"hash/maphash"
	"math/bits"

	"tillwatch/api"
)

// idKey stands for an intent's id: for one of the form that the service gives, in
// whole, so that it need not be compared; for any other only most probably.
type idKey struct {
	high, low uint64
}

// sought is an intent that is looked for.
type sought struct {
	key   idKey
	hash  uint64
	exact bool // the key is the whole id
}

const (
	keyPrefix = "ci_"
	keyLength = len(keyPrefix) + 32
)

// sought looks at an id, not yet at the intent.
func (x *intentIndex) sought(id api.ID) sought {
	key, exact := keyOf(id)
	if !exact {
		key = idKey{maphash.String(x.seed, string(id)), uint64(len(id))}
	}
	// Somebody else may have chosen the ids.
	high, low := bits.Mul64(key.high^x.salt[0], key.low^x.salt[1])
	return sought{key, high ^ low, exact}
}

// keyOf makes the key of an id of the form that the service gives.
func keyOf(id api.ID) (key idKey, exact bool) {
	if len(id) == keyLength && id[:len(keyPrefix)] == keyPrefix {
		a, b := nibbles(id[3:11])
		c, d := nibbles(id[11:19])
		e, f := nibbles(id[19:27])
		g, h := nibbles(id[27:35])
		if b && d && f && h {
			return idKey{a<<4 | c, e<<4 | g}, true
		}
	}
	return idKey{}, false
}

// nibbles are the values of eight hexadecimal digits in lower case, each in the
// lower half of a byte; ok is false where there is anything else.
func nibbles(text api.ID) (values uint64, ok bool) {
	_ = text[7]
	digits := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
	const each = 0x0101010101010101 // one in every byte
	letters := digits >> 6 & each
	values = digits&(0x0f*each) + letters*9
	// Only what is made of such digits is told again by its values.
	again := values + '0'*each + (values+6*each)>>4&each*('a'-'9'-1)
	return values, values&(0xf0*each) == 0 && again == digits
}
