package account

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/quota"
)

var (
	fed   = scheduleInput{fed: true, poll: 30 * time.Second, slow: 8 * time.Minute}
	lost  = scheduleInput{lost: true, poll: 30 * time.Second, slow: 8 * time.Minute}
	busy  = scheduleInput{fed: true, poll: 30 * time.Second, slow: 20 * time.Minute}
	alone = scheduleInput{poll: 30 * time.Second, slow: 8 * time.Minute}
)

// confirmedAfter is a history of confirms by others, where placing takes 20 s.
func confirmedAfter(delays ...time.Duration) confirms { return confirms{delays, 20 * time.Second} }

func TestNextRead(t *testing.T) {
	read := func(state api.IntentState, reads int) IntentDetail {
		return IntentDetail{Intent: Intent{State: state, Certainty: Verified, Since: noon}, basis: basis{newest: noon, reads: reads, ordered: true}}
	}
	prompt := slices.Repeat([]time.Duration{30 * time.Second}, enoughStays)
	var slow []time.Duration
	for i := range enoughStays {
		slow = append(slow, time.Duration(i+1)*time.Minute)
	}
	with := func(in IntentDetail, change func(*IntentDetail)) IntentDetail { change(&in); return in }
	elsewhere := func(delays ...time.Duration) scheduleInput {
		return scheduleInput{habits: habits{elsewhere: true, confirms: confirmedAfter(delays...)}, fed: true, poll: fed.poll, slow: fed.slow}
	}
	unhurried := fed
	unhurried.placing = 50 * time.Second
	cases := []struct {
		name  string
		in    IntentDetail
		t     scheduleInput
		after time.Duration // from noon; negative: never
	}{
		{"placing, first read, no feed", read(api.PlacingOrder, 1), alone, 2 * time.Second},
		{"placing, second read, no feed", read(api.PlacingOrder, 2), alone, 5 * time.Second},
		{"placing, fifth read, no feed", read(api.PlacingOrder, 5), alone, 30 * time.Second},
		{"placing, with a feed", read(api.PlacingOrder, 1), fed, 20 * time.Second},
		{"placing, with a feed, usually slow", read(api.PlacingOrder, 1), unhurried, 50 * time.Second},
		{"placing, feed lost for long", with(read(api.PlacingOrder, 9), func(in *IntentDetail) { in.Since = noon.Add(-time.Hour) }), lost, 30 * time.Second},
		{"placing for an hour, no feed", with(read(api.PlacingOrder, 9), func(in *IntentDetail) { in.Since = noon.Add(-time.Hour) }), alone, 2 * time.Minute},
		{"retrieving, no feed", read(api.RetrievingOffer, 1), alone, 5 * time.Second},
		{"retrieving, with a feed", read(api.RetrievingOffer, 1), fed, 30 * time.Second},
		{"awaiting, with a feed", read(api.AwaitingConfirmation, 1), fed, 8 * time.Minute},
		{"awaiting, with a feed, others confirm", read(api.AwaitingConfirmation, 1), elsewhere(), 15 * time.Second},
		{"awaiting for long, with a feed, others confirm", read(api.AwaitingConfirmation, 2), elsewhere(), 8 * time.Minute},
		{"awaiting, others confirm after half a minute", read(api.AwaitingConfirmation, 1), elsewhere(prompt...), 30*time.Second + time.Second/4},
		{"awaiting for longer than others ever take", with(read(api.AwaitingConfirmation, 1), func(in *IntentDetail) { in.Since = noon.Add(-time.Minute) }), elsewhere(prompt...), 8 * time.Minute},
		{"awaiting, others confirm sooner or later", read(api.AwaitingConfirmation, 1), elsewhere(slow...), 8 * time.Minute},
		{"awaiting, third read, with a feed", read(api.AwaitingConfirmation, 3), fed, 8 * time.Minute},
		{"awaiting, many are, with a feed", read(api.AwaitingConfirmation, 3), busy, 20 * time.Minute},
		{"awaiting, feed lost", read(api.AwaitingConfirmation, 3), lost, 30 * time.Second},
		{"awaiting, window about to close", with(read(api.AwaitingConfirmation, 1), func(in *IntentDetail) { in.ExpiresAt = noon.Add(time.Minute) }), fed, time.Minute + 3*time.Second},
		{"awaiting, window just closed", with(read(api.AwaitingConfirmation, 1), func(in *IntentDetail) { in.ExpiresAt = noon.Add(-4 * time.Second) }), fed, 10 * time.Second},
		{"awaiting, window closed for a minute", with(read(api.AwaitingConfirmation, 1), func(in *IntentDetail) { in.ExpiresAt = noon.Add(-63 * time.Second) }), fed, time.Minute},
		{"unknown state", read("requires_action", 1), fed, time.Minute},
		{"unknown state, feed lost", read("requires_action", 1), lost, 30 * time.Second},
		{"never read", with(read(api.AwaitingConfirmation, 0), func(in *IntentDetail) { in.Certainty, in.basis.newest = Reported, time.Time{} }), fed, 30 * time.Second},
		{"never read, window closed", with(read(api.AwaitingConfirmation, 0), func(in *IntentDetail) {
			in.Certainty, in.basis.newest, in.ExpiresAt = Reported, time.Time{}, noon.Add(-3*time.Second)
		}), fed, 0},
		{"read behind an event", with(read(api.PlacingOrder, 1), func(in *IntentDetail) { in.Certainty, in.basis.behind = Reported, 2 }), fed, 2 * time.Second},
		{"not found once", with(read("", 1), func(in *IntentDetail) { in.basis.missing = 1 }), fed, 5 * time.Second},
		{"not found four times", with(read("", 4), func(in *IntentDetail) { in.basis.missing = 4 }), fed, -1},
		{"completed", read(api.Completed, 1), alone, -1},
		{"failed", read(api.Failed, 1), lost, -1},
		{"completed without an order", with(read(api.Completed, 1), func(in *IntentDetail) { in.basis.ordered = false }), fed, 30 * time.Second},
		{"completed without an order for long", with(read(api.Completed, 4), func(in *IntentDetail) { in.basis.ordered = false }), fed, -1},
		{"end reported two days ago", with(read(api.Completed, 0), func(in *IntentDetail) {
			in.Certainty, in.Since, in.basis.newest = Reported, noon.Add(-48*time.Hour), time.Time{}
		}), fed, -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			due, _ := nextRead(&c.in, c.t, noon)
			ok := !due.IsZero()
			if ok != (c.after >= 0) {
				t.Fatalf("read again: %v, want %v", ok, c.after >= 0)
			}
			if ok && due.Sub(noon) != c.after {
				t.Errorf("read after %v, want %v", due.Sub(noon), c.after)
			}
		})
	}
}

// TestAQueueBehavesLikeAListThatIsSorted compares the queue with looking at all
// that is wanted.
func TestAQueueBehavesLikeAListThatIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, now := newQueue(), noon
		want := map[task]*modelJob{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			of := task{readIntent, api.ID(fmt.Sprint("ci_", rapid.IntRange(1, 40).Draw(t, "id")))}
			if rapid.Bool().Draw(t, "list") {
				of.kind = listOfIntent
			}
			due, priority := now.Add(time.Duration(rapid.IntRange(-5, 20).Draw(t, "due"))*time.Second), quota.Priority(rapid.IntRange(0, 3).Draw(t, "priority"))
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				q.ask(of, rank{}, due, priority)
				j := want[of]
				if j == nil {
					j = &modelJob{}
					want[of] = j
				}
				if j.asked.IsZero() {
					j.asked, j.askedFor = due, priority
				} else {
					j.askedFor = min(j.askedFor, priority)
					if due.Before(j.asked) {
						j.asked = due
					}
				}
			case 2:
				q.plan(of, rank{}, due, priority)
				if want[of] == nil {
					want[of] = &modelJob{}
				}
				want[of].planned, want[of].plannedFor = due, priority
			case 3:
				q.plan(of, rank{}, time.Time{}, 0)
				if j := want[of]; j != nil {
					j.planned = time.Time{}
				}
			case 4:
				q.dropAsk(of, priority)
				if j := want[of]; j != nil && !j.asked.IsZero() && j.askedFor > priority {
					j.asked = time.Time{}
				}
			case 5:
				now = now.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "later")) * time.Second)
			case 6:
				j, _ := q.next(now)
				best := most(want, now)
				if (j != nil) != (best >= 0) || j != nil && (j.priority() != best || !want[j.task].isDue(now)) {
					t.Fatalf("got %+v, want priority %d", j, best)
				}
				if j != nil {
					q.begin(j.task)
					q.finish(j.task, nil, now)
					delete(want, j.task)
				}
			}
			if of.kind == listOfIntent && rapid.IntRange(0, 20).Draw(t, "forget") == 0 {
				q.forget(of)
				delete(want, of)
			}
			for of, j := range want {
				if j.asked.IsZero() && j.planned.IsZero() {
					delete(want, of)
				}
			}
			if len(q.jobs) != len(want) {
				t.Fatalf("%d jobs, want %d", len(q.jobs), len(want))
			}
		}
	})
}

// modelJob is a wanted read as plainly as it can be said.
type modelJob struct {
	asked, planned       time.Time // zero: not
	askedFor, plannedFor quota.Priority
}

func (j *modelJob) isDue(now time.Time) bool {
	return !j.asked.IsZero() && !j.asked.After(now) || !j.planned.IsZero() && !j.planned.After(now)
}

// most is the priority of the most urgent job that is due, -1 for none. A job is
// as urgent as the reason that is due first, and as both when that is the plan.
func most(want map[task]*modelJob, now time.Time) quota.Priority {
	best := quota.Priority(-1)
	for _, j := range want {
		if !j.isDue(now) {
			continue
		}
		p := j.askedFor
		switch {
		case j.asked.IsZero():
			p = j.plannedFor
		case !j.planned.IsZero() && !j.planned.After(j.asked):
			p = min(j.askedFor, j.plannedFor)
		}
		if best < 0 || p < best {
			best = p
		}
	}
	return best
}

func TestAWindowThatClosesIsReadAsUrgentlyAsAfterAnEvent(t *testing.T) {
	for name, c := range map[string]struct {
		read, expires time.Time
		priority      quota.Priority
	}{
		"read before it closed":        {noon.Add(-time.Minute), noon, quota.Hint},
		"never read":                   {time.Time{}, noon, quota.Hint},
		"read since, and still awaits": {noon.Add(5 * time.Second), noon, quota.Timer},
	} {
		t.Run(name, func(t *testing.T) {
			in := IntentDetail{Intent: Intent{State: api.AwaitingConfirmation, ExpiresAt: c.expires}, basis: basis{newest: c.read, reads: 1}}
			if _, priority := nextRead(&in, fed, noon.Add(time.Minute)); priority != c.priority {
				t.Errorf("read with priority %v, want %v", priority, c.priority)
			}
		})
	}
}
