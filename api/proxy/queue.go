package proxy

import (
	"context"
	"sync/atomic"

	"tillwatch/api/quota"
)

// Bounds of the queue.
const (
	maxQueued = 1024
	maxBatch  = 256
)

// queue holds observations until run reports them. Adding one never blocks.
type queue struct {
	waiting chan quota.Observation
	take    func([]quota.Observation) // nil: nobody wants them
	dropped atomic.Int64
}

func newQueue(take func([]quota.Observation)) *queue {
	return &queue{waiting: make(chan quota.Observation, maxQueued), take: take}
}

// put adds an observation, or drops it if the queue is full.
func (q *queue) put(o quota.Observation) {
	if q.take == nil {
		return
	}
	select {
	case q.waiting <- o:
	default:
		q.dropped.Add(1)
	}
}

// run reports observations until ctx ends, and then the remaining ones.
func (q *queue) run(ctx context.Context) {
	for {
		select {
		case o := <-q.waiting:
			q.take(q.batch(o))
		case <-ctx.Done():
			for left := q.batch(); len(left) > 0; left = q.batch() {
				q.take(left)
			}
			return
		}
	}
}

// batch appends waiting observations, up to maxBatch.
func (q *queue) batch(batch ...quota.Observation) []quota.Observation {
	for len(batch) < maxBatch {
		select {
		case o := <-q.waiting:
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}
