package account

import (
	"slices"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

var (
	fed   = trust{fed: true, poll: 30 * time.Second, awaiting: 10 * time.Minute}
	lost  = trust{lost: true, poll: 30 * time.Second, awaiting: 10 * time.Minute}
	alone = trust{poll: 30 * time.Second, awaiting: 10 * time.Minute}
)

// confirmedAfter is a history of confirms by others, where placing takes 20 s.
func confirmedAfter(delays ...time.Duration) confirms { return confirms{delays, 20 * time.Second} }

func TestNextRead(t *testing.T) {
	read := func(state api.IntentState, reads int) outlook {
		return outlook{state: state, certainty: Verified, since: noon, newest: noon, reads: reads, ordered: true}
	}
	prompt := slices.Repeat([]time.Duration{30 * time.Second}, enoughStays)
	var slow []time.Duration
	for i := range enoughStays {
		slow = append(slow, time.Duration(i+1)*time.Minute)
	}
	with := func(o outlook, change func(*outlook)) outlook { change(&o); return o }
	cases := []struct {
		name  string
		o     outlook
		t     trust
		after time.Duration // from noon; negative: never
	}{
		{"placing, first read, no feed", read(api.PlacingOrder, 1), alone, 2 * time.Second},
		{"placing, second read, no feed", read(api.PlacingOrder, 2), alone, 5 * time.Second},
		{"placing, fifth read, no feed", read(api.PlacingOrder, 5), alone, 30 * time.Second},
		{"placing, with a feed", read(api.PlacingOrder, 1), fed, 20 * time.Second},
		{"placing, with a feed, usually slow", with(read(api.PlacingOrder, 1), func(o *outlook) { o.usual = 50 * time.Second }), fed, 50 * time.Second},
		{"placing, feed lost for long", with(read(api.PlacingOrder, 9), func(o *outlook) { o.since = noon.Add(-time.Hour) }), lost, 30 * time.Second},
		{"placing for an hour, no feed", with(read(api.PlacingOrder, 9), func(o *outlook) { o.since = noon.Add(-time.Hour) }), alone, 2 * time.Minute},
		{"retrieving, no feed", read(api.RetrievingOffer, 1), alone, 5 * time.Second},
		{"retrieving, with a feed", read(api.RetrievingOffer, 1), fed, 30 * time.Second},
		{"awaiting, with a feed", read(api.AwaitingConfirmation, 1), fed, 10 * time.Minute},
		{"awaiting, with a feed, others confirm", with(read(api.AwaitingConfirmation, 1), func(o *outlook) { o.elsewhere = true }), fed, 15 * time.Second},
		{"awaiting for long, with a feed, others confirm", with(read(api.AwaitingConfirmation, 2), func(o *outlook) { o.elsewhere = true }), fed, 10 * time.Minute},
		{"awaiting, others confirm after half a minute", with(read(api.AwaitingConfirmation, 1), func(o *outlook) { o.elsewhere, o.confirms = true, confirmedAfter(prompt...) }), fed, 30*time.Second + time.Second/4},
		{"awaiting for longer than others ever take", with(read(api.AwaitingConfirmation, 1), func(o *outlook) {
			o.elsewhere, o.confirms, o.since = true, confirmedAfter(prompt...), noon.Add(-time.Minute)
		}), fed, 10 * time.Minute},
		{"awaiting, others confirm sooner or later", with(read(api.AwaitingConfirmation, 1), func(o *outlook) { o.elsewhere, o.confirms = true, confirmedAfter(slow...) }), fed, 8*time.Minute + time.Second/4},
		{"awaiting, third read, with a feed", read(api.AwaitingConfirmation, 3), fed, 40 * time.Minute},
		{"awaiting, feed lost", read(api.AwaitingConfirmation, 3), lost, 30 * time.Second},
		{"awaiting, window about to close", with(read(api.AwaitingConfirmation, 1), func(o *outlook) { o.expiresAt = noon.Add(time.Minute) }), fed, time.Minute + 3*time.Second},
		{"awaiting, window just closed", with(read(api.AwaitingConfirmation, 1), func(o *outlook) { o.expiresAt = noon.Add(-4 * time.Second) }), fed, 10 * time.Second},
		{"awaiting, window closed for a minute", with(read(api.AwaitingConfirmation, 1), func(o *outlook) { o.expiresAt = noon.Add(-63 * time.Second) }), fed, time.Minute},
		{"unknown state", read("requires_action", 1), fed, time.Minute},
		{"unknown state, feed lost", read("requires_action", 1), lost, 30 * time.Second},
		{"never read", outlook{state: api.AwaitingConfirmation, certainty: Reported, since: noon}, fed, 30 * time.Second},
		{"read behind an event", with(read(api.PlacingOrder, 1), func(o *outlook) { o.certainty, o.behind = Reported, 2 }), fed, 2 * time.Second},
		{"not found once", outlook{newest: noon, missing: 1}, fed, 5 * time.Second},
		{"not found four times", outlook{newest: noon, missing: 4}, fed, -1},
		{"completed", read(api.Completed, 1), alone, -1},
		{"failed", read(api.Failed, 1), lost, -1},
		{"completed without an order", with(read(api.Completed, 1), func(o *outlook) { o.ordered = false }), fed, 30 * time.Second},
		{"completed without an order for long", with(read(api.Completed, 4), func(o *outlook) { o.ordered = false }), fed, -1},
		{"end reported two days ago", outlook{state: api.Completed, certainty: Reported, since: noon.Add(-48 * time.Hour)}, fed, -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			due, _, ok := nextRead(&c.o, c.t, noon)
			if ok != (c.after >= 0) {
				t.Fatalf("read again: %v, want %v", ok, c.after >= 0)
			}
			if ok && due.Sub(noon) != c.after {
				t.Errorf("read after %v, want %v", due.Sub(noon), c.after)
			}
		})
	}
}

func TestQueueOrder(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	q := newQueue()
	q.ask(task{id: "later"}, at(60), quota.Person)
	q.ask(task{id: "old"}, at(0), quota.Reconcile)
	q.rank(task{id: "old"}, false, at(-60))
	q.ask(task{id: "new"}, at(0), quota.Reconcile)
	q.rank(task{id: "new"}, false, at(-5))
	q.ask(task{id: "ended"}, at(0), quota.Reconcile)
	q.rank(task{id: "ended"}, true, at(0))
	q.schedule(task{id: "timer"}, at(1), quota.Timer)
	q.ask(task{id: "hint"}, at(1), quota.Hint)
	q.ask(task{id: "raised"}, at(30), quota.Reconcile)
	q.ask(task{id: "raised"}, at(1), quota.Person)
	q.schedule(task{id: "given up"}, at(1), quota.Timer)
	q.unschedule(task{id: "given up"})

	var got []api.ID
	for j := q.peek(at(2)); j != nil; j = q.peek(at(2)) {
		q.begin(j)
		got = append(got, j.task.id)
		q.finish(j, false)
	}
	want := []api.ID{"raised", "hint", "timer", "new", "old", "ended"}
	if len(got) != len(want) {
		t.Fatalf("read %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("read %v, want %v", got, want)
		}
	}
	if due, ok := q.nextDue(); !ok || !due.Equal(at(60)) || len(q.jobs) != 1 {
		t.Errorf("%d jobs are left, the next due at %v", len(q.jobs), due)
	}
}

func TestAskDuringAReadIsReadAfterIt(t *testing.T) {
	q := newQueue()
	q.ask(task{id: "a"}, noon, quota.Hint)
	j := q.peek(noon)
	q.begin(j)
	for range 3 {
		q.ask(task{id: "a"}, noon, quota.Hint)
	}
	if q.peek(noon) != nil {
		t.Fatal("read twice at once")
	}
	q.finish(j, false)
	if again := q.peek(noon); again != j {
		t.Fatal("the ask was forgotten")
	}
	q.begin(j)
	q.finish(j, false)
	if q.peek(noon) != nil || len(q.jobs) != 0 {
		t.Error("one read too many is wanted")
	}
}

func TestBackOffDoublesUpToAMinute(t *testing.T) {
	for tries, want := range []time.Duration{1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 7: time.Minute, 60: time.Minute} {
		if want == 0 {
			continue
		}
		for range 20 {
			if got := backOff(tries); got < want/2 || got >= want {
				t.Errorf("after %d tries %v, want between %v and %v", tries, got, want/2, want)
			}
		}
	}
}
