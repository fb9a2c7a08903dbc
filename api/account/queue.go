package account

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// task names a read.
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

// job is a wanted read. It may be asked for, because something happened, and
// planned, because time passes; what is asked for many times is read once.
type job struct {
	task
	asked, planned       time.Time // when it is due for that reason; zero: not for that
	askedFor, plannedFor quota.Priority
	rank                 rank
	failure              failure
	reading              bool
}

// rank orders reads of one priority.
type rank struct {
	ended bool      // what is read has ended: it comes after all others
	fresh time.Time // the newest comes first
}

// failure is how a read failed since it last succeeded.
type failure struct {
	since time.Time
	tries int // 0 where it did not fail
	err   error
}

// queue orders wanted reads. It looks at all of them to find the next: there are as
// many as there are open intents and shipments. It is not safe for use by several
// goroutines.
type queue struct {
	jobs          map[task]*job
	intentsTurned bool // the last read that began was not of shipments
}

func newQueue() *queue { return &queue{jobs: map[task]*job{}, intentsTurned: true} }

// ask wants a read at due. The earliest and most urgent of several asks holds. An
// ask during a read wants another one after it.
func (q *queue) ask(t task, r rank, due time.Time, priority quota.Priority) {
	j := q.job(t, r)
	if !j.asked.IsZero() {
		due, priority = earlier(j.asked, due), min(j.askedFor, priority)
	}
	j.asked, j.askedFor = due, priority
}

// askAgain is [queue.ask] for a read that was wanted before.
func (q *queue) askAgain(t task, due time.Time, priority quota.Priority) {
	if j := q.jobs[t]; j != nil {
		q.ask(t, j.rank, due, priority)
	}
}

// plan plans a read instead of the one that was planned before; none where due is
// zero.
func (q *queue) plan(t task, r rank, due time.Time, priority quota.Priority) {
	if q.jobs[t] == nil && due.IsZero() {
		return
	}
	j := q.job(t, r)
	j.planned, j.plannedFor = due, priority
	q.tidy(j)
}

// job finds or makes the job of a task.
func (q *queue) job(t task, r rank) *job {
	if q.jobs[t] == nil {
		q.jobs[t] = &job{task: t}
	}
	q.jobs[t].rank = r
	return q.jobs[t]
}

// dropAsk gives up what was asked for, unless it is as urgent as keep.
func (q *queue) dropAsk(t task, keep quota.Priority) {
	if j := q.jobs[t]; j != nil && j.askedFor > keep {
		j.asked = time.Time{}
		q.tidy(j)
	}
}

// forget gives up a read altogether, as what it would read is no longer kept.
func (q *queue) forget(t task) {
	if j := q.jobs[t]; j != nil {
		j.asked, j.planned, j.failure = time.Time{}, time.Time{}, failure{}
		q.tidy(j)
	}
}

// tidy removes a job that nothing wants any more.
func (q *queue) tidy(j *job) {
	if j.asked.IsZero() && j.planned.IsZero() && !j.reading && j.failure.tries == 0 {
		delete(q.jobs, j.task)
	}
}

// next returns the most urgent read that is due, nil for none, and how long it takes
// until another becomes due, at most a minute.
func (q *queue) next(now time.Time) (best *job, pause time.Duration) {
	pause = time.Minute
	for _, j := range q.jobs {
		switch due, wanted := j.due(); {
		case !wanted || j.reading:
		case due.After(now):
			pause = min(pause, due.Sub(now))
		case best == nil || q.compare(j, best) < 0:
			best = j
		}
	}
	return best, pause
}

// dueShipments lists the reads of shipments that are due, the most urgent first, at
// most so many.
func (q *queue) dueShipments(now time.Time, most int) []task {
	var due []*job
	for _, j := range q.jobs {
		if j.kind == readShipment && j.isDue(now) {
			due = append(due, j)
		}
	}
	slices.SortFunc(due, q.compare)
	var tasks []task
	for _, j := range due[:min(len(due), most)] {
		tasks = append(tasks, j.task)
	}
	return tasks
}

// compare orders reads, the more urgent first.
func (q *queue) compare(a, b *job) int {
	return cmp.Or(
		cmp.Compare(a.priority(), b.priority()), cmp.Compare(q.turn(a), q.turn(b)),
		b.rank.fresh.Compare(a.rank.fresh), cmp.Compare(a.id, b.id), cmp.Compare(a.kind, b.kind),
	)
}

// turn orders reads of one priority. Shipments and intents take turns: one list reads
// many shipments, and of the intents the open ones should not wait for long. Ended
// ones can.
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

// begin takes jobs out to be read.
func (q *queue) begin(tasks ...task) {
	for _, t := range tasks {
		j := q.jobs[t]
		j.reading = true
		j.asked, j.planned = time.Time{}, time.Time{}
		q.intentsTurned = t.kind != readShipment
	}
}

// finish ends a read; err says why it failed.
func (q *queue) finish(t task, err error, now time.Time) {
	j := q.jobs[t]
	j.reading = false
	if err == nil {
		j.failure = failure{}
		q.tidy(j)
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
func (q *queue) pending(t task) bool { return q.asks(t) || q.jobs[t] != nil && q.jobs[t].reading }

// failure returns how a read has failed since it last succeeded.
func (q *queue) failure(t task) failure {
	if j := q.jobs[t]; j != nil {
		return j.failure
	}
	return failure{}
}

func (j *job) isDue(now time.Time) bool {
	due, wanted := j.due()
	return wanted && !j.reading && !due.After(now)
}

// due is when the first of the job's reasons is; false when there is none.
func (j *job) due() (due time.Time, wanted bool) {
	if j.asked.IsZero() || j.plansFirst() {
		return j.planned, !j.planned.IsZero()
	}
	return j.asked, true
}

func (j *job) plansFirst() bool { return !j.planned.IsZero() && !j.planned.After(j.asked) }

// priority is that of the reason that is due first, and where that is the plan it
// is as urgent as both.
func (j *job) priority() quota.Priority {
	switch {
	case j.asked.IsZero():
		return j.plannedFor
	case j.plansFirst():
		return min(j.plannedFor, j.askedFor)
	}
	return j.askedFor
}
