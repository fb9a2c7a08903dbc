package account

import (
	"cmp"
	"container/heap"
	"math"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// task names a read: of an intent or a shipment, or of the list of an intent's
// shipments.
type task struct {
	id   api.ID
	list bool
}

// job is a wanted read. It may be asked for, because something happened, and
// planned, because time passes; what is asked for many times is read once.
type job struct {
	task                 task
	asked, planned       span      // when it is due for that reason
	fresh                time.Time // the newest first
	tries                int       // failed reads in a row
	askedFor, plannedFor quota.Priority
	heap                 *jobHeap // that it is in; nil for none
	index                int      // in its heap
	reading              bool
	last                 bool // after all others of its priority
}

// span is a time since the queue was made, in nanoseconds. What has no monotonic
// reading is counted by the wall clock as it was then.
type span int64

// never is the due time of a reason that there is not.
const never span = math.MinInt64

// queue orders wanted reads: by when they are due, and of those that are due by
// priority. It is not safe for use by several goroutines.
type queue struct {
	start   time.Time
	jobs    map[task]*job
	waiting jobHeap // until they are due
	ready   jobHeap // by priority
}

func newQueue() *queue {
	return &queue{start: time.Now(), jobs: map[task]*job{}, waiting: jobHeap{less: dueBefore}, ready: jobHeap{less: moreUrgent}}
}

func (q *queue) span(t time.Time) span { return max(span(t.Sub(q.start)), never+1) }

// ask wants a read at due. The earliest and most urgent of several asks holds. An
// ask during a read wants another one after it.
func (q *queue) ask(t task, due time.Time, priority quota.Priority) {
	j, at := q.job(t), q.span(due)
	if j.asked != never {
		at, priority = min(j.asked, at), min(j.askedFor, priority)
	}
	j.asked, j.askedFor = at, priority
	q.settle(j)
}

// schedule plans a read instead of the one that was planned before.
func (q *queue) schedule(t task, due time.Time, priority quota.Priority) {
	j := q.job(t)
	j.planned, j.plannedFor = q.span(due), priority
	q.settle(j)
}

// job finds or makes the job of a task.
func (q *queue) job(t task) *job {
	j := q.jobs[t]
	if j == nil {
		j = &job{task: t, asked: never, planned: never}
		q.jobs[t] = j
	}
	return j
}

// unschedule gives up what was planned, not what was asked for.
func (q *queue) unschedule(t task) {
	if j := q.jobs[t]; j != nil {
		j.planned = never
		q.settle(j)
	}
}

// dropAsk gives up what was asked for, unless it is as urgent as keep.
func (q *queue) dropAsk(t task, keep quota.Priority) {
	if j := q.jobs[t]; j != nil && j.asked != never && j.askedFor > keep {
		j.asked = never
		q.settle(j)
	}
}

// forget gives up a read altogether, as what it would read is no longer kept.
func (q *queue) forget(t task) {
	if j := q.jobs[t]; j != nil {
		j.asked, j.planned, j.tries = never, never, 0
		q.settle(j)
	}
}

// rank says which of the jobs of one priority come first.
func (q *queue) rank(t task, last bool, fresh time.Time) {
	j := q.jobs[t]
	if j == nil || j.last == last && j.fresh.Equal(fresh) {
		return
	}
	j.last, j.fresh = last, fresh
	if j.heap == &q.ready {
		heap.Fix(j.heap, j.index)
	}
}

// wanted is a read that is due.
type wanted struct {
	task
	priority quota.Priority
	last     bool // it can wait for others of its priority
	planned  bool // nothing but time calls for it
}

// peek is the most urgent read that is due, if there is any.
func (q *queue) peek(now time.Time) (w wanted, ok bool) {
	for at := q.span(now); q.waiting.Len() > 0; {
		j := q.waiting.jobs[0]
		if j.due() > at {
			break
		}
		j.move(&q.ready)
	}
	if q.ready.Len() == 0 {
		return wanted{}, false
	}
	j := q.ready.jobs[0]
	return wanted{j.task, j.priority(), j.last, j.asked == never}, true
}

// begin takes a job out to be read.
func (q *queue) begin(t task) {
	j := q.jobs[t]
	j.move(nil)
	j.reading = true
	j.asked, j.planned = never, never
}

// finish ends a read. A failed one counts its tries.
func (q *queue) finish(t task, failed bool) {
	j := q.jobs[t]
	j.reading = false
	if failed {
		j.tries++
	} else {
		j.tries = 0
	}
	q.settle(j)
}

// asks reports whether a read is asked for.
func (q *queue) asks(t task) bool {
	j := q.jobs[t]
	return j != nil && j.asked != never
}

// pending reports whether a read is asked for or under way.
func (q *queue) pending(t task) bool {
	j := q.jobs[t]
	return j != nil && (j.asked != never || j.reading)
}

// tries is how often a read has failed in a row.
func (q *queue) tries(t task) int {
	if j := q.jobs[t]; j != nil {
		return j.tries
	}
	return 0
}

// nextDue is when the next job that waits becomes due.
func (q *queue) nextDue() (time.Time, bool) {
	if q.waiting.Len() == 0 {
		return time.Time{}, false
	}
	return q.start.Add(time.Duration(q.waiting.jobs[0].due())), true
}

// resume counts anew from now, after this machine has slept or its clock was set.
// What waits, waits as long as before.
func (q *queue) resume(now time.Time) {
	by := span(now.Sub(q.start))
	q.start = now
	for _, j := range q.jobs { // their order stays as it is
		for _, due := range []*span{&j.asked, &j.planned} {
			if *due != never {
				*due = max(*due-by, never+1)
			}
		}
	}
}

// due is when the first of its reasons is; never when there is none.
func (j *job) due() span {
	if j.asked == never || j.planned != never && j.planned <= j.asked {
		return j.planned
	}
	return j.asked
}

// priority is that of the reason that is due first, and where that is the plan it
// is as urgent as both.
func (j *job) priority() quota.Priority {
	switch {
	case j.asked == never:
		return j.plannedFor
	case j.planned != never && j.planned <= j.asked:
		return min(j.plannedFor, j.askedFor)
	}
	return j.askedFor
}

// settle puts a job where it belongs now.
func (q *queue) settle(j *job) {
	j.move(nil)
	switch {
	case j.reading:
	case j.due() != never:
		j.move(&q.waiting)
	case j.tries == 0:
		delete(q.jobs, j.task)
	}
}

// move takes a job from the heap that it is in to another, or to none.
func (j *job) move(to *jobHeap) {
	if j.heap != nil {
		heap.Remove(j.heap, j.index)
	}
	if j.heap = to; to != nil {
		heap.Push(to, j)
	}
}

// jobHeap is a [heap.Interface] of jobs, each of which knows its index.
type jobHeap struct {
	jobs []*job
	less func(a, b *job) bool
}

func (h *jobHeap) Len() int           { return len(h.jobs) }
func (h *jobHeap) Less(a, b int) bool { return h.less(h.jobs[a], h.jobs[b]) }

func (h *jobHeap) Swap(a, b int) {
	h.jobs[a], h.jobs[b] = h.jobs[b], h.jobs[a]
	h.jobs[a].index, h.jobs[b].index = a, b
}

func (h *jobHeap) Push(x any) {
	j := x.(*job)
	j.index = len(h.jobs)
	h.jobs = append(h.jobs, j)
}

func (h *jobHeap) Pop() any {
	last := len(h.jobs) - 1
	j := h.jobs[last]
	h.jobs[last] = nil
	h.jobs = h.jobs[:last]
	return j
}

func dueBefore(a, b *job) bool { return a.due() < b.due() }

func moreUrgent(a, b *job) bool {
	switch pa, pb := a.priority(), b.priority(); {
	case pa != pb:
		return pa < pb
	case a.last != b.last:
		return b.last
	}
	return cmp.Or(b.fresh.Compare(a.fresh), cmp.Compare(a.task.id, b.task.id)) < 0
}
