package forward

import (
	"container/heap"
	"time"

	"tillwatch/api"
)

// queue is what waits of one source, in order. Once one event of it is held on disk, all
// are.
type queue struct {
	source api.ID
	rows   []int64  // the numbers of those on disk
	fresh  []*entry // those that are not
	next   time.Time
	busy   bool // the first one is under way
	order  int64
	index  int // among those that are due
}

func (l *lane) queueOf(source api.ID) *queue {
	q := l.queues[source]
	if q == nil {
		q = &queue{source: source}
		l.queues[source] = q
	}
	return q
}

// enqueue has the first of a queue tried when its time has come.
func (l *lane) enqueue(q *queue) {
	l.order++
	q.order = l.order
	heap.Push(&l.due, q)
}

// dueQueues is a heap of queues: that which is due first, and of those the one that
// has waited longest.
type dueQueues struct{ queues []*queue }

func (d *dueQueues) Len() int { return len(d.queues) }

func (d *dueQueues) Less(i, j int) bool {
	a, b := d.queues[i], d.queues[j]
	if !a.next.Equal(b.next) {
		return a.next.Before(b.next)
	}
	return a.order < b.order
}

func (d *dueQueues) Swap(i, j int) {
	d.queues[i], d.queues[j] = d.queues[j], d.queues[i]
	d.queues[i].index, d.queues[j].index = i, j
}

func (d *dueQueues) Push(q any) {
	q.(*queue).index = len(d.queues)
	d.queues = append(d.queues, q.(*queue))
}

func (d *dueQueues) Pop() any {
	last := len(d.queues) - 1
	q := d.queues[last]
	d.queues = d.queues[:last]
	return q
}

// hurry has everything tried now, in the order in which it was due.
func (d *dueQueues) hurry(now time.Time) {
	for _, q := range d.queues {
		if q.next.After(now) {
			q.next = now
		}
	}
	heap.Init(d)
}

// hurryOne has one queue tried now, before the others.
func (d *dueQueues) hurryOne(q *queue, now time.Time) {
	q.next = now
	heap.Fix(d, q.index)
}
