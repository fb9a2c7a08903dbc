package account

import (
	"math"
	"strings"
)

// names keeps texts that repeat, each once, under a number. 0 stands for no text.
type names[T ~string] struct {
	most  int // so many are looked for; beyond, a text may be kept twice
	texts []T
	known map[T]uint32
	last  [8]uint32 // of the texts that were looked for last, by their lengths
}

func newNames[T ~string](most int) names[T] {
	return names[T]{most: most, texts: []T{""}, known: map[T]uint32{}}
}

func (n *names[T]) number(text T) uint32 {
	if last := n.last[len(text)%len(n.last)]; n.texts[last] == text {
		return last
	}
	return n.lookUp(text)
}

func (n *names[T]) lookUp(text T) uint32 {
	if text == "" {
		return 0
	}
	if i, ok := n.known[text]; ok {
		n.last[len(text)%len(n.last)] = i
		return i
	}
	i := uint32(len(n.texts))
	text = T(strings.Clone(string(text))) // it may be a part of a whole answer
	n.texts = append(n.texts, text)
	if len(n.known) < n.most {
		n.known[text] = i
	}
	return i
}

// isFull reports whether a text is neither known nor would be looked for.
func (n *names[T]) isFull(text T) bool {
	if len(n.known) < n.most {
		return false
	}
	_, known := n.known[text]
	return !known && text != ""
}

// code is a number that fits into a byte, or 0 once there are too many.
func (n *names[T]) code(text T) uint8 {
	if len(n.texts) > math.MaxUint8 {
		if i, ok := n.known[text]; !ok || i > math.MaxUint8 {
			return 0
		}
	}
	return uint8(n.number(text))
}

func (n *names[T]) text(i uint32) T { return n.texts[i] }
