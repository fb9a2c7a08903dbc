package account

import (
	"fmt"
	"slices"
	"testing"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// BenchmarkNextRead finds, begins, ends and asks again for a read, while so many
// others are due: by the queue, and by looking at all of them.
func BenchmarkNextRead(b *testing.B) {
	for _, due := range []int{100, 20_000} {
		filled := func() *queue {
			q := newQueue()
			for n := range due {
				q.ask(task{readIntent, api.ID(fmt.Sprint("ci_", n))}, rank{fresh: noon}, noon, quota.Reconcile)
			}
			return q
		}
		again := func(q *queue, j *job) {
			q.begin(j.task)
			q.finish(j.task, nil, noon)
			q.ask(j.task, j.rank, noon, j.askedFor)
		}
		b.Run(fmt.Sprint(due, " due, queue"), func(b *testing.B) {
			q := filled()
			for b.Loop() {
				j, _ := q.next(noon)
				again(q, j)
			}
		})
		b.Run(fmt.Sprint(due, " due, all looked at"), func(b *testing.B) {
			q := filled()
			var all []*job
			for _, j := range q.jobs {
				all = append(all, j)
			}
			for b.Loop() {
				_ = slices.MinFunc(all, q.compare)
			}
		})
	}
}
