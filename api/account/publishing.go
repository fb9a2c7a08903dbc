package account

import (
	"slices"
)

// What is published of many records is copied a batch at a time, so that writers
// never wait long. Under the lock it is only copied: memory is asked for between two
// batches.

// publishBatch bounds how many records are copied while writers wait.
const publishBatch = 128

// publishIntents publishes the intents that changed after a version, as
// [touches.since] tells them.
func (s *Store) publishIntents(since uint64, numbers []uint32, more bool) (published []*Intent) {
	var room []*Intent
	between := func(most int) {
		published = slices.Grow(published, most)
		for len(room) < most {
			room = append(room, &Intent{})
		}
	}
	publishChanged(s, &s.intentBlocks, numbers, more, between, func(r *intentRecord) {
		if r.version > since {
			last := len(room) - 1
			in := room[last]
			s.fill(in, r)
			published, room = append(published, in), room[:last]
		}
	})
	return published
}

// publishShipments is [Store.publishIntents] for shipments.
func (s *Store) publishShipments(since uint64, numbers []uint32, more bool) (published []*Shipment) {
	var room []*Shipment
	between := func(most int) {
		published = slices.Grow(published, most)
		for len(room) < most {
			room = append(room, &Shipment{})
		}
	}
	publishChanged(s, &s.shipmentBlocks, numbers, more, between, func(r *shipmentRecord) {
		if r.version > since {
			last := len(room) - 1
			s.fillShipment(room[last], r)
			published, room = append(published, room[last]), room[:last]
		}
	})
	return published
}

// publishChanged copies the records of these numbers, the longest unchanged first,
// or where there are more all, in the order in which they became known. A record
// that changes meanwhile is told as it is then, and again next time.
func publishChanged[R any](s *Store, records *blocks[R], numbers []uint32, more bool, between func(most int), copied func(*R)) {
	if more {
		each(s, records, between, copied)
		return
	}
	inBatches(s, longestUnchanged(numbers), between, func(number uint32) { copied(records.at(number)) })
}

// each looks at all records, a batch at a time. Before each batch, of so
// many at the most, it does what it may between two.
func each[R any](s *Store, records *blocks[R], between func(most int), look func(*R)) {
	for next, last := uint32(1), uint32(1); next <= last; {
		between(publishBatch)
		s.mu.Lock()
		last = records.last
		for end := min(next+publishBatch, last+1); next < end; next++ {
			look(records.at(next))
		}
		s.mu.Unlock()
	}
}

// inBatches is each for any list.
func inBatches[T any](s *Store, list []T, between func(most int), do func(T)) {
	for batch := range slices.Chunk(list, publishBatch) {
		between(len(batch))
		s.mu.Lock()
		for _, item := range batch {
			do(item)
		}
		s.mu.Unlock()
	}
}

func doNothing(int) {}
