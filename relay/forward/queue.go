package forward

import (
	"container/heap"
	"time"

	"tillwatch/api"
)

// queue holds the waiting events of one source, in order.
type queue struct {
	source api.ID
	rows   []int64   // the row numbers of its events in the state; at least one
	next   time.Time // when the first of them is due
	since  time.Time // since when the first is tried, by this process's clock; zero: not yet
	busy   bool      // an attempt of the first one is under way
	failed bool      // an attempt of the first one, by this process, has failed
}

// resume takes over for how long earlier runs have tried an event. Only the difference of
// their times counts: the clock may have been set meanwhile.
func (q *queue) resume(h *Held) {
	if q.since.IsZero() && !h.Since.IsZero() {
		q.since = time.Now().Add(-max(0, h.Delivery.Sent.Sub(h.Since)))
	}
}

// queueAgain queues an event of an earlier run. However far ahead its clock was, the event
// is due within the longest pause.
func (w *worker) queueAgain(source api.ID, n int64, at time.Time) {
	wait := min(max(0, time.Until(at)), lastPause)
	w.queueUp(source, n, time.Now().Add(wait))
}

// queueUp appends an event to the queue of its source. If it is the only one, it is due
// at the given time.
func (w *worker) queueUp(source api.ID, n int64, at time.Time) {
	w.held++
	if q := w.queues[source]; q != nil {
		q.rows = append(q.rows, n)
		return
	}
	q := &queue{source: source, rows: []int64{n}, next: at}
	w.queues[source] = q
	heap.Push(&w.due, q)
}

// drop removes the first event of a queue; the next one, if any, is due at once.
func (w *worker) drop(q *queue) {
	w.held--
	q.since, q.failed = time.Time{}, false
	if q.rows = q.rows[1:]; len(q.rows) == 0 {
		delete(w.queues, q.source)
		return
	}
	w.enqueue(q, time.Now())
}

// enqueue schedules the first event of a queue.
func (w *worker) enqueue(q *queue, at time.Time) {
	q.busy, q.next = false, at
	heap.Push(&w.due, q)
}

// dueQueues is a heap of queues, by when they are due and then by the age of their first
// event.
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

// hurry makes all queues due now that wanted selects.
func (d *dueQueues) hurry(wanted func(*queue) bool) {
	now := time.Now()
	for _, q := range *d {
		if q.next.After(now) && wanted(q) {
			q.next = now
		}
	}
	heap.Init(d)
}
