package account

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// task identifies a read.
type task struct {
	kind taskKind
	id   api.ID
}

type taskKind uint8

const (
	readIntent   taskKind = iota
	listOfIntent          // an intent's shipments
	readShipment
)

// job is a wanted read: asked for because something happened, planned because time passes, or both. However often
// it is asked for, it is read once.
type job struct {
	task
	asked, planned       time.Time // when it is due for either reason; zero: not wanted for it
	askedFor, plannedFor quota.Priority
	rank                 rank
	failure              failure
	reading              []quota.Priority // of its reads under way, each more urgent than the one before

	in *jobHeap // the heap it waits in; nil while it is not wanted, or read as urgently
	at int      // its index there
}

// rank orders reads of equal priority.
type rank struct {
	ended bool      // the thing to read has ended: it comes last
	fresh time.Time // the newest comes first
}

// failure is how a read has failed since it last succeeded.
type failure struct {
	since time.Time
	tries int // failures in a row; 0 for none
	err   error
}

// queue orders wanted reads. It is not safe for use by several goroutines.
type queue struct {
	jobs          map[task]*job
	later         jobHeap // not due when the queue was last checked
	intents       jobHeap // due reads of intents, and of their lists of shipments
	shipments     jobHeap // due reads of shipments
	intentsTurned bool    // the last read begun was not of shipments
}

func newQueue() *queue {
	q := &queue{jobs: map[task]*job{}, intentsTurned: true}
	q.later.compare = func(a, b *job) int { return a.due().Compare(b.due()) }
	q.intents.compare, q.shipments.compare = q.compare, q.compare
	return q
}

// ask wants a read at due. Of several asks the earliest time and the highest priority hold. An ask during a read
// wants another one after it.
func (q *queue) ask(t task, r rank, due time.Time, priority quota.Priority) {
	j := q.job(t, r)
	if !j.asked.IsZero() {
		due, priority = earlier(j.asked, due), min(j.askedFor, priority)
	}
	j.asked, j.askedFor = due, priority
	q.place(j)
}

// askAgain is [queue.ask] for a read whose job exists.
func (q *queue) askAgain(t task, due time.Time, priority quota.Priority) {
	if j := q.jobs[t]; j != nil {
		q.ask(t, j.rank, due, priority)
	}
}

// plan plans a read in place of the one planned before; a zero due plans none.
func (q *queue) plan(t task, r rank, due time.Time, priority quota.Priority) {
	if q.jobs[t] == nil && due.IsZero() {
		return
	}
	j := q.job(t, r)
	j.planned, j.plannedFor = due, priority
	q.place(j)
}

// job returns a task's job, and makes it if there is none.
func (q *queue) job(t task, r rank) *job {
	if q.jobs[t] == nil {
		q.jobs[t] = &job{task: t}
	}
	q.jobs[t].rank = r
	return q.jobs[t]
}

// dropAsk withdraws an ask, unless it is as urgent as keep.
func (q *queue) dropAsk(t task, keep quota.Priority) {
	if j := q.jobs[t]; j != nil && j.askedFor > keep {
		j.asked = time.Time{}
		q.place(j)
	}
}

// forget drops a read because its subject is no longer kept.
func (q *queue) forget(t task) {
	if j := q.jobs[t]; j != nil {
		j.asked, j.planned, j.failure = time.Time{}, time.Time{}, failure{}
		q.place(j)
	}
}

// place moves a job to the heap it belongs in, and removes one that is no longer wanted.
func (q *queue) place(j *job) {
	if j.in != nil {
		heap.Remove(j.in, j.at)
	}
	switch {
	case j.underWay() && (!j.wanted() || j.priority() >= j.reading[len(j.reading)-1]):
	case j.wanted():
		heap.Push(&q.later, j)
	case j.failure.tries == 0:
		delete(q.jobs, j.task)
	}
}

// next returns the most urgent read that is due, nil for none, and the time until the next becomes due, at most a
// minute.
func (q *queue) next(now time.Time) (best *job, pause time.Duration) {
	pause = time.Minute
	for len(q.later.list) > 0 {
		j := q.later.list[0]
		if wait := j.due().Sub(now); wait > 0 {
			pause = min(pause, wait)
			break
		}
		heap.Pop(&q.later)
		heap.Push(q.ready(j.kind), j)
	}
	for _, ready := range []*jobHeap{&q.intents, &q.shipments} {
		if len(ready.list) > 0 && (best == nil || q.compare(ready.list[0], best) < 0) {
			best = ready.list[0]
		}
	}
	return best, pause
}

func (q *queue) ready(k taskKind) *jobHeap {
	if k == readShipment {
		return &q.shipments
	}
	return &q.intents
}

// dueShipments lists the shipment reads that [queue.next] found due, the most urgent first, at most most of them.
func (q *queue) dueShipments(most int) []task {
	var tasks []task
	for _, j := range slices.SortedFunc(slices.Values(q.shipments.list), q.compare) {
		if len(tasks) == most {
			break
		}
		tasks = append(tasks, j.task)
	}
	return tasks
}

// compare orders reads by urgency.
func (q *queue) compare(a, b *job) int {
	return cmp.Or(
		cmp.Compare(a.priority(), b.priority()), cmp.Compare(q.turn(a), q.turn(b)),
		b.rank.fresh.Compare(a.rank.fresh), cmp.Compare(a.id, b.id), cmp.Compare(a.kind, b.kind),
	)
}

// turn orders reads of equal priority. Shipments and intents take turns: one list reads many shipments, and open
// intents must not wait long. Ended ones can.
func (q *queue) turn(j *job) int {
	switch {
	case j.kind == readShipment && q.intentsTurned:
		return 0
	case j.kind == readShipment:
		return 2
	case j.rank.ended:
		return 3
	}
	return 1
}

// begin marks tasks as being read together, as urgently as the first.
func (q *queue) begin(tasks ...task) {
	priority := q.jobs[tasks[0]].priority()
	for _, t := range tasks {
		j := q.jobs[t]
		j.reading = append(j.reading, priority)
		j.asked, j.planned = time.Time{}, time.Time{}
		q.place(j)
		q.intentsTurned = t.kind != readShipment
	}
}

// finish ends a read, of several the most urgent; err is its failure or nil.
func (q *queue) finish(t task, err error, now time.Time) {
	j := q.jobs[t]
	j.reading = j.reading[:len(j.reading)-1]
	defer q.place(j)
	if err == nil {
		j.failure = failure{}
		return
	}
	if j.failure.tries == 0 {
		j.failure.since = now
	}
	j.failure.tries++
	j.failure.err = err
}

// asks reports whether a read is asked for.
func (q *queue) asks(t task) bool { return q.jobs[t] != nil && !q.jobs[t].asked.IsZero() }

// pending reports whether a read is asked for or under way.
func (q *queue) pending(t task) bool {
	return q.asks(t) || q.jobs[t] != nil && q.jobs[t].underWay()
}

// failure returns how a read has failed since it last succeeded.
func (q *queue) failure(t task) failure {
	if j := q.jobs[t]; j != nil {
		return j.failure
	}
	return failure{}
}

func (j *job) underWay() bool { return len(j.reading) > 0 }

// wanted reports whether the read is asked for or planned.
func (j *job) wanted() bool { return !j.asked.IsZero() || !j.planned.IsZero() }

// due is when the earlier of the job's reasons is due.
func (j *job) due() time.Time {
	if j.asked.IsZero() || j.plansFirst() {
		return j.planned
	}
	return j.asked
}

func (j *job) plansFirst() bool { return !j.planned.IsZero() && !j.planned.After(j.asked) }

// priority is that of the reason that is due first. If that is the plan and the read is also asked for, it is the
// higher of both.
func (j *job) priority() quota.Priority {
	switch {
	case j.asked.IsZero():
		return j.plannedFor
	case j.plansFirst():
		return min(j.plannedFor, j.askedFor)
	}
	return j.askedFor
}

// jobHeap is a heap of jobs, the most urgent at the top. Each job holds its index.
type jobHeap struct {
	list    []*job
	compare func(a, b *job) int
}

func (l *jobHeap) Len() int           { return len(l.list) }
func (l *jobHeap) Less(i, k int) bool { return l.compare(l.list[i], l.list[k]) < 0 }

func (l *jobHeap) Swap(i, k int) {
	l.list[i], l.list[k] = l.list[k], l.list[i]
	l.list[i].at, l.list[k].at = i, k
}

func (l *jobHeap) Push(x any) {
	j := x.(*job)
	j.in, j.at = l, len(l.list)
	l.list = append(l.list, j)
}

func (l *jobHeap) Pop() any {
	last := len(l.list) - 1
	j := l.list[last]
	l.list[last], l.list = nil, l.list[:last]
	j.in = nil
	return j
}
