package account

import (
	"strings"

	"tillwatch/api"
)

// blocks keeps many values side by side in memory. Values never move, so that
// growing copies nothing, and are known by numbers from 1.
type blocks[T any] struct {
	list [][]T
	size int // values a block
	last uint32
}

func newBlocks[T any](size int) blocks[T] { return blocks[T]{size: size} }

func (b *blocks[T]) add() (uint32, *T) {
	if int(b.last) == len(b.list)*b.size {
		b.list = append(b.list, make([]T, b.size))
	}
	b.last++
	return b.last, b.at(b.last)
}

// at is the value of a number that was given out.
func (b *blocks[T]) at(number uint32) *T {
	i := int(number - 1)
	return &b.list[i/b.size][i%b.size]
}

// idArena copies ids into large pieces of memory. They are kept for as long as
// the picture lasts.
type idArena struct{ room strings.Builder }

const idRoom = 16 << 10

func (a *idArena) keep(id api.ID) api.ID {
	if a.room.Cap()-a.room.Len() < len(id) {
		a.room.Reset()
		a.room.Grow(max(idRoom, len(id)))
	}
	begin := a.room.Len()
	a.room.WriteString(string(id))
	return api.ID(a.room.String()[begin:])
}
