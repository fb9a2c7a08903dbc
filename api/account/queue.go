package account

import (
	"cmp"
	"math"
	"time"

	"tillwatch/api/quota"
)

// task names a read by the number that the store gave its object: of an intent or
// a shipment, or of the list of an intent's shipments.
type task struct {
	number uint32
	list   bool
}

// job is a wanted read. It may be asked for, because something happened, and
// planned, because time passes; what is asked for many times is read once. There
// may be a hundred thousand after a long history: a job is small and holds no
// pointers.
type job struct {
	asked, planned       span    // when it is due for that reason
	fresh                instant // the newest first
	number               uint32  // of its task
	index                uint32  // in its heap
	tries                uint16  // failed reads in a row
	askedFor, plannedFor uint8   // priorities
	home                 home
	list                 bool // of its task
	reading              bool
	last                 bool // after all others of its priority
	unread               bool // an intent that has ended and was never read
}

func (j *job) task() task { return task{j.number, j.list} }

// span is a time since the queue was made, in nanoseconds. What has no monotonic
// reading is counted by the wall clock as it was then.
type span int64

// never is the due time of a reason that there is not.
const never span = math.MinInt64

// home is the heap that a job is in.
type home uint8

const (
	nowhere home = iota
	waiting      // until it is due
	ready        // by priority
	homes
)

// queue orders wanted reads: by when they are due, and of those that are due by
// priority. It is not safe for use by several goroutines.
type queue struct {
	start  time.Time
	jobs   jobs
	unread int             // of the jobs
	heaps  [homes][]uint32 // of numbers of jobs
}

func newQueue() *queue { return &queue{start: time.Now()} }

func (q *queue) span(t time.Time) span { return max(span(t.Sub(q.start)), never+1) }

// ask wants a read at due. The earliest and most urgent of several asks holds. An
// ask during a read wants another one after it.
func (q *queue) ask(t task, due time.Time, priority quota.Priority) {
	n, j := q.jobs.have(t)
	at := q.span(due)
	if j.asked != never {
		at, priority = min(j.asked, at), min(quota.Priority(j.askedFor), priority)
	}
	j.asked, j.askedFor = at, uint8(priority)
	q.settle(n)
}

// schedule plans a read instead of the one that was planned before.
func (q *queue) schedule(t task, due time.Time, priority quota.Priority) {
	n, j := q.jobs.have(t)
	j.planned, j.plannedFor = q.span(due), uint8(priority)
	q.settle(n)
}

// unschedule gives up what was planned, not what was asked for.
func (q *queue) unschedule(t task) {
	if n := q.jobs.number(t); n != 0 {
		q.jobs.at(n).planned = never
		q.settle(n)
	}
}

// dropAsk gives up what was asked for, unless it is as urgent as keep.
func (q *queue) dropAsk(t task, keep quota.Priority) {
	if n := q.jobs.number(t); n != 0 {
		if j := q.jobs.at(n); j.asked != never && quota.Priority(j.askedFor) > keep {
			j.asked = never
			q.settle(n)
		}
	}
}

// rank says which of the jobs of one priority come first.
func (q *queue) rank(t task, last, unread bool, fresh time.Time) {
	n := q.jobs.number(t)
	if n == 0 {
		return
	}
	j, at := q.jobs.at(n), instantOf(fresh)
	q.count(j, unread)
	if j.last == last && j.fresh == at {
		return
	}
	j.last, j.fresh = last, at
	if j.home == ready {
		q.sift(ready, j.index)
	}
}

func (q *queue) count(j *job, unread bool) {
	switch {
	case unread && !j.unread:
		q.unread++
	case !unread && j.unread:
		q.unread--
	}
	j.unread = unread
}

// keeps reports whether a read stays in the queue however many wait: one that is
// counted, that is under way or that is urgent.
func (q *queue) keeps(t task) bool {
	n := q.jobs.number(t)
	if n == 0 {
		return false
	}
	j := q.jobs.at(n)
	return j.unread || j.reading || j.tries > 0 || j.asked != never && quota.Priority(j.askedFor) < quota.Reconcile
}

// unreadTasks are the reads of intents that were never read.
func (q *queue) unreadTasks() []task {
	var tasks []task
	for n := uint32(1); n <= q.jobs.last; n++ {
		if j := q.jobs.at(n); j.unread {
			tasks = append(tasks, j.task())
		}
	}
	return tasks
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
	for at := q.span(now); len(q.heaps[waiting]) > 0; {
		n := q.heaps[waiting][0]
		j := q.jobs.at(n)
		if j.due() > at {
			break
		}
		q.leave(j)
		q.enter(ready, n, j)
	}
	if len(q.heaps[ready]) == 0 {
		return wanted{}, false
	}
	j := q.jobs.at(q.heaps[ready][0])
	return wanted{j.task(), j.priority(), j.last, j.asked == never}, true
}

// begin takes a job out to be read.
func (q *queue) begin(t task) {
	j := q.jobs.at(q.jobs.number(t))
	q.leave(j)
	j.reading = true
	j.asked, j.planned = never, never
}

// finish ends a read. A failed one counts its tries.
func (q *queue) finish(t task, failed bool) {
	n := q.jobs.number(t)
	j := q.jobs.at(n)
	j.reading = false
	if failed {
		j.tries = min(j.tries+1, math.MaxUint16-1)
	} else {
		j.tries = 0
	}
	q.settle(n)
}

// asks reports whether a read is asked for.
func (q *queue) asks(t task) bool {
	n := q.jobs.number(t)
	return n != 0 && q.jobs.at(n).asked != never
}

// pending reports whether a read is asked for or under way.
func (q *queue) pending(t task) bool {
	n := q.jobs.number(t)
	return n != 0 && (q.jobs.at(n).asked != never || q.jobs.at(n).reading)
}

// tries is how often a read has failed in a row.
func (q *queue) tries(t task) int {
	if n := q.jobs.number(t); n != 0 {
		return int(q.jobs.at(n).tries)
	}
	return 0
}

// nextDue is when the next job that waits becomes due.
func (q *queue) nextDue() (time.Time, bool) {
	if len(q.heaps[waiting]) == 0 {
		return time.Time{}, false
	}
	return q.start.Add(time.Duration(q.jobs.at(q.heaps[waiting][0]).due())), true
}

// resume counts anew from now, after this machine has slept or its clock was set.
// What waits, waits as long as before.
func (q *queue) resume(now time.Time) {
	by := span(now.Sub(q.start))
	q.start = now
	for n := uint32(1); n <= q.jobs.last; n++ {
		j := q.jobs.at(n)
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
		return quota.Priority(j.plannedFor)
	case j.planned != never && j.planned <= j.asked:
		return quota.Priority(min(j.plannedFor, j.askedFor))
	}
	return quota.Priority(j.askedFor)
}

// settle puts a job where it belongs now.
func (q *queue) settle(n uint32) {
	j := q.jobs.at(n)
	q.leave(j)
	switch {
	case j.reading:
	case j.due() != never:
		q.enter(waiting, n, j)
	case j.tries == 0:
		q.count(j, false)
		if moved := q.jobs.remove(n); moved != nil && moved.home != nowhere {
			q.heaps[moved.home][moved.index] = n
		}
	}
}

func (q *queue) enter(h home, n uint32, j *job) {
	j.home, j.index = h, uint32(len(q.heaps[h]))
	q.heaps[h] = append(q.heaps[h], n)
	q.sift(h, j.index)
}

func (q *queue) leave(j *job) {
	h := j.home
	if h == nowhere {
		return
	}
	heap, at := q.heaps[h], j.index
	last := uint32(len(heap) - 1)
	q.swap(h, at, last)
	q.heaps[h] = heap[:last]
	j.home = nowhere
	if at < last {
		q.sift(h, at)
	}
	if len(heap) > 1024 && len(heap) < cap(heap)/4 {
		q.heaps[h] = append(make([]uint32, 0, cap(heap)/2), heap[:last]...)
	}
}

// sift moves a job of a heap up or down to its place.
func (q *queue) sift(h home, at uint32) {
	heap := q.heaps[h]
	for at > 0 && q.less(h, heap[at], heap[(at-1)/2]) {
		q.swap(h, at, (at-1)/2)
		at = (at - 1) / 2
	}
	for {
		child := 2*at + 1
		if child >= uint32(len(heap)) {
			return
		}
		if right := child + 1; right < uint32(len(heap)) && q.less(h, heap[right], heap[child]) {
			child = right
		}
		if !q.less(h, heap[child], heap[at]) {
			return
		}
		q.swap(h, at, child)
		at = child
	}
}

func (q *queue) swap(h home, a, b uint32) {
	heap := q.heaps[h]
	heap[a], heap[b] = heap[b], heap[a]
	q.jobs.at(heap[a]).index, q.jobs.at(heap[b]).index = a, b
}

func (q *queue) less(h home, m, n uint32) bool {
	a, b := q.jobs.at(m), q.jobs.at(n)
	if h == waiting {
		return a.due() < b.due()
	}
	switch pa, pb := a.priority(), b.priority(); {
	case pa != pb:
		return pa < pb
	case a.last != b.last:
		return b.last
	}
	return cmp.Or(cmp.Compare(b.fresh, a.fresh), cmp.Compare(a.number, b.number)) < 0
}
