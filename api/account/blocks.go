package account

import "math/bits"

// blocks keeps many values side by side in memory. Values never move, so that
// growing copies nothing, and are known by numbers from 1.
type blocks[T any] struct {
	list  [][]T
	shift int // of a block's size
	last  uint32
}

// newBlocks makes blocks of so many values, rounded up to a power of two.
func newBlocks[T any](size int) blocks[T] { return blocks[T]{shift: bits.Len(uint(size - 1))} }

func (b *blocks[T]) add() (uint32, *T) {
	if int(b.last)>>b.shift == len(b.list) {
		b.list = append(b.list, make([]T, 1<<b.shift))
	}
	b.last++
	return b.last, b.at(b.last)
}

// at is the value of a number that was given out.
func (b *blocks[T]) at(number uint32) *T {
	i := number - 1
	return &b.list[i>>(b.shift&31)][i&(1<<(b.shift&31)-1)]
}
