package account

import (
	"container/heap"
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
	task  task
	asked wish
	plan  wish
	last  bool      // after all others of its priority
	fresh time.Time // the newest first
	tries int       // failed reads in a row

	reading  bool
	due      time.Time // of the more urgent wish
	priority quota.Priority
	home     *jobHeap
	index    int
}

// wish is one reason to read; its due time is zero when there is none.
type wish struct {
	due      time.Time
	priority quota.Priority
}

// queue orders wanted reads: by when they are due, and of those that are due by
// priority. It is not safe for use by several goroutines.
type queue struct {
	jobs    map[task]*job
	waiting jobHeap // by due
	ready   jobHeap // by priority
}

func newQueue() *queue {
	return &queue{
		jobs: map[task]*job{},
		waiting: jobHeap{less: func(a, b *job) bool {
			return a.due.Before(b.due)
		}},
		ready: jobHeap{less: func(a, b *job) bool {
			switch {
			case a.priority != b.priority:
				return a.priority < b.priority
			case a.last != b.last:
				return b.last
			case !a.fresh.Equal(b.fresh):
				return a.fresh.After(b.fresh)
			}
			return a.task.id < b.task.id
		}},
	}
}

// ask wants a read at due. The earliest and most urgent of several asks holds. An
// ask during a read wants another one after it.
func (q *queue) ask(t task, due time.Time, priority quota.Priority) {
	j := q.job(t)
	if j.asked.due.IsZero() {
		j.asked = wish{due, priority}
	} else {
		j.asked.priority = min(j.asked.priority, priority)
		if due.Before(j.asked.due) {
			j.asked.due = due
		}
	}
	q.settle(j)
}

// schedule plans a read instead of the one that was planned before.
func (q *queue) schedule(t task, due time.Time, priority quota.Priority) {
	j := q.job(t)
	j.plan = wish{due, priority}
	q.settle(j)
}

// unschedule gives up what was planned, not what was asked for.
func (q *queue) unschedule(t task) {
	if j := q.jobs[t]; j != nil {
		j.plan = wish{}
		q.settle(j)
	}
}

// dropAsk gives up what was asked for, unless it is as urgent as keep.
func (q *queue) dropAsk(t task, keep quota.Priority) {
	if j := q.jobs[t]; j != nil && j.asked.priority > keep {
		j.asked = wish{}
		q.settle(j)
	}
}

// rank says which of the jobs of one priority come first.
func (q *queue) rank(t task, last bool, fresh time.Time) {
	if j := q.jobs[t]; j != nil {
		j.last, j.fresh = last, fresh
		if j.home != nil {
			heap.Fix(j.home, j.index)
		}
	}
}

// peek is the most urgent job that is due, or nil.
func (q *queue) peek(now time.Time) *job {
	for q.waiting.Len() > 0 && !q.waiting.jobs[0].due.After(now) {
		j := q.waiting.jobs[0]
		q.waiting.take(j)
		q.ready.put(j)
	}
	if q.ready.Len() == 0 {
		return nil
	}
	return q.ready.jobs[0]
}

// begin takes j out to be read.
func (q *queue) begin(j *job) {
	q.leave(j)
	j.reading = true
	j.asked, j.plan = wish{}, wish{}
}

// finish ends a read. A failed one counts its tries.
func (q *queue) finish(j *job, failed bool) {
	j.reading = false
	if failed {
		j.tries++
	} else {
		j.tries = 0
	}
	q.settle(j)
}

// nextDue is when the next job that waits becomes due.
func (q *queue) nextDue() (time.Time, bool) {
	if q.waiting.Len() == 0 {
		return time.Time{}, false
	}
	return q.waiting.jobs[0].due, true
}

func (q *queue) job(t task) *job {
	j := q.jobs[t]
	if j == nil {
		j = &job{task: t}
		q.jobs[t] = j
	}
	return j
}

// settle puts j where it belongs now.
func (q *queue) settle(j *job) {
	q.leave(j)
	if j.reading {
		return
	}
	switch asks, plans := !j.asked.due.IsZero(), !j.plan.due.IsZero(); {
	case !asks && !plans:
		if j.tries == 0 {
			delete(q.jobs, j.task)
		}
		return
	case asks && plans && !j.plan.due.After(j.asked.due):
		j.due, j.priority = j.plan.due, min(j.plan.priority, j.asked.priority)
	case asks:
		j.due, j.priority = j.asked.due, j.asked.priority
	default:
		j.due, j.priority = j.plan.due, j.plan.priority
	}
	q.waiting.put(j)
}

func (q *queue) leave(j *job) {
	if j.home != nil {
		j.home.take(j)
	}
}

// jobHeap is a heap of jobs that know where they are.
type jobHeap struct {
	jobs []*job
	less func(a, b *job) bool
}

func (h *jobHeap) put(j *job) {
	j.home = h
	heap.Push(h, j)
}

func (h *jobHeap) take(j *job) {
	heap.Remove(h, j.index)
	j.home = nil
}

func (h *jobHeap) Len() int           { return len(h.jobs) }
func (h *jobHeap) Less(i, k int) bool { return h.less(h.jobs[i], h.jobs[k]) }
func (h *jobHeap) Swap(i, k int) {
	h.jobs[i], h.jobs[k] = h.jobs[k], h.jobs[i]
	h.jobs[i].index, h.jobs[k].index = i, k
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
