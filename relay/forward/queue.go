package forward

import (
	"container/heap"
	"time"

	"tillwatch/api"
)

// queue is what waits of one source, in order.
type queue struct {
	source api.ID
	rows   []int64   // the numbers of its events in the state; at least one
	next   time.Time // when the first of them is to be tried
	busy   bool      // that is under way
}

// queueUp puts an event behind the others of its source; at is when it is to be tried
// where there are none.
func (l *lane) queueUp(source api.ID, n int64, at time.Time) {
	l.held++
	if q := l.queues[source]; q != nil {
		q.rows = append(q.rows, n)
		return
	}
	q := &queue{source: source, rows: []int64{n}, next: at}
	l.queues[source] = q
	heap.Push(&l.due, q)
}

// drop lets go of the first event of a queue and has the rest tried, if there is any.
func (l *lane) drop(q *queue) {
	l.held--
	if q.rows = q.rows[1:]; len(q.rows) == 0 {
		delete(l.queues, q.source)
		return
	}
	l.enqueue(q, time.Now())
}

// enqueue has the first event of a queue tried at a time.
func (l *lane) enqueue(q *queue, at time.Time) {
	q.busy, q.next = false, at
	heap.Push(&l.due, q)
}

// dueQueues is a heap of queues: that which is due first, and of those the one whose
// event is the oldest.
type dueQueues []*queue

func (d dueQueues) Len() int      { return len(d) }
func (d dueQueues) Swap(i, j int) { d[i], d[j] = d[j], d[i] }

func (d dueQueues) Less(i, j int) bool {
	if d[i].next.Equal(d[j].next) {
		return d[i].rows[0] < d[j].rows[0]
	}
	return d[i].next.Before(d[j].next)
}

func (d *dueQueues) Push(q any) { *d = append(*d, q.(*queue)) }

func (d *dueQueues) Pop() any {
	last := len(*d) - 1
	q := (*d)[last]
	*d = (*d)[:last]
	return q
}

// hurry has those that are wanted tried now.
func (d *dueQueues) hurry(wanted func(*queue) bool) {
	now := time.Now()
	for _, q := range *d {
		if q.next.After(now) && wanted(q) {
			q.next = now
		}
	}
	heap.Init(d)
}
