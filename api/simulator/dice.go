package simulator

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"
)

// subject separates the streams of random numbers: what happens to the n-th intent depends on the seed alone, not on
// earlier draws for others.
type subject uint64

const (
	diceIntent subject = iota + 1
	diceOffer
	diceOrder
	diceParcels
	diceParcel
	diceShop
	diceHistory
	diceFaults
	diceEndpoint
	diceProduct
	diceBasket
	diceRestored
)

// dice is a stream of random numbers.
type dice struct{ *rand.Rand }

func newDice(seed uint64, of subject, n uint64) dice {
	return dice{rand.New(rand.NewPCG(mix(seed), mix(uint64(of)<<56^n)))}
}

// mix is the finalizer of SplitMix64: it turns neighbouring numbers into unrelated ones.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// id returns prefix with a random UUID without dashes.
func (d dice) id(prefix string) string {
	return prefix + strings.ReplaceAll(d.uuid().String(), "-", "")
}

// uuid returns a random UUID of version 4.
func (d dice) uuid() (b uuid.UUID) {
	binary.BigEndian.PutUint64(b[:8], d.Uint64())
	binary.BigEndian.PutUint64(b[8:], d.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return b
}

func (d dice) chance(share float64) bool { return d.Float64() < share }

// between returns a whole number from low to high, both included.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }
