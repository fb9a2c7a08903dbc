package simulator

import "slices"

// A stand-in may run for days: it keeps at least this many of its newest intents, with their shipments, and ten times as
// many events.
const (
	keptIntents = 10_000
	keptEvents  = 10 * keptIntents
)

// series holds the newest things of one kind, by creation. The number of a thing, from 1, stays when older ones go.
type series[T any] struct {
	items []T
	gone  int // number of those let go
}

// made counts all, also those let go.
func (s *series[T]) made() int { return s.gone + len(s.items) }

// since returns what was made after the first number things, as far as it is still there.
func (s *series[T]) since(number int) []T { return s.items[min(max(number-s.gone, 0), len(s.items)):] }

// letGo drops the oldest things, up to the first that is not over, until most are left, and returns them. Each time it
// moves the others: it begins only with a sixteenth too many.
func (s *series[T]) letGo(most int, over func(T) bool) (gone []T) {
	if len(s.items) <= most+most/16 {
		return nil
	}
	spare := s.items[:len(s.items)-most]
	n := slices.IndexFunc(spare, func(item T) bool { return !over(item) })
	if n < 0 {
		n = len(spare)
	}
	gone = slices.Clone(s.items[:n])
	s.items = slices.Delete(s.items, 0, n)
	s.gone += n
	return gone
}
