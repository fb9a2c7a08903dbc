package forward

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// run is a run to http://target, in simulated time.
type run struct {
	t      *testing.T
	config Config

	mu  sync.Mutex
	all []Attempt

	cancel context.CancelFunc
	ended  chan struct{}
	result Result
	err    error
}

func start(t *testing.T, j *journal, e http.RoundTripper, change ...func(*Config)) *run {
	t.Helper()
	r := newRun(t, j, e, change...)
	r.begin()
	return r
}

func newRun(t *testing.T, j *journal, e http.RoundTripper, change ...func(*Config)) *run {
	r := &run{t: t}
	r.config = Config{
		State: t.TempDir(), Relay: "http://relay", Targets: []Target{{URL: "http://target"}}, GiveUp: GiveUp,
		Sender: Sender{Prefix: "x-svc-", Transport: e}, Subscribe: j.subscribe,
		OnAttempt: func(a Attempt) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.all = append(r.all, a)
			return nil
		},
		OnStatus: func(api.Text, relay.Status) {},
	}
	for _, do := range change {
		do(&r.config)
	}
	return r
}

func (r *run) begin() {
	ctx, cancel := context.WithCancel(r.t.Context())
	r.cancel, r.ended = cancel, make(chan struct{})
	go func() {
		defer close(r.ended)
		r.result, r.err = Run(ctx, r.config)
	}()
}

// stop ends the run in good order.
func (r *run) stop() {
	r.t.Helper()
	r.cancel()
	if <-r.ended; r.err != nil {
		r.t.Error(r.err)
	}
}

// of are the attempts to deliver an event.
func (r *run) of(event api.ID) (all []delivery.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.all {
		if a.Event.ID == event {
			all = append(all, a.Delivery)
		}
	}
	return all
}

// pass lets time pass, and what is due be done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// refusing refuses an event as long as told.
func refusing(event api.ID, refuses *bool) func(api.Event, *rand.Rand) verdict {
	return func(e api.Event, _ *rand.Rand) verdict {
		if *refuses && e.ID == event {
			return verdict{status: 503}
		}
		return verdict{status: 200}
	}
}

func TestAnEventThatIsNotTakenHoldsUpThoseAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, refuses := newJournal(), true
		first, second, third := j.add(t), j.add(t), j.add(t)
		e := newEndpoint(refusing(second, &refuses))
		r := start(t, j, e)
		pass(10 * time.Minute)
		e.set(func() {
			if e.taken[first] != 1 || slices.Contains(e.tried, third) {
				t.Errorf("tried was %v", e.tried)
			}
		})
		// The first six pauses take 31.5 s to 63 s, each of those that follow 30 s to 60 s.
		if n := len(r.of(second)); n < 15 || n > 25 {
			t.Errorf("in ten minutes it is tried %d times", n)
		}
		for i, d := range r.of(second) {
			pause := d.Next.Sub(d.Sent)
			if d.State != delivery.Waiting || d.Attempts != i+1 || pause < firstPause/2 || pause > 61*time.Second {
				t.Errorf("attempt %d is %+v", i+1, d)
			}
		}
		if r.stop(); r.result != (Result{Waiting: 2}) {
			t.Errorf("it leaves %+v", r.result)
		}
		e.set(func() { refuses = false })
		r.begin()
		pass(time.Second)
		r.stop()
		last := e.tried[len(e.tried)-2:]
		if r.result != (Result{}) || e.taken[first] != 1 || !slices.Equal(last, []api.ID{second, third}) {
			t.Errorf("the next run leaves %+v, and tried was %v", r.result, e.tried)
		}
	})
}

func TestAnEventIsGivenUpAndSentAgainWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, refuses := newJournal(), true
		first, second := j.add(t), j.add(t)
		e := newEndpoint(refusing(first, &refuses))
		r := start(t, j, e)
		pass(GiveUp - time.Second)
		e.set(func() {
			if len(e.taken) > 0 {
				t.Errorf("before its time, taken is %v", e.taken)
			}
		})
		pass(2 * time.Second)
		r.stop()
		last := r.of(first)[len(r.of(first))-1]
		if last.State != delivery.Dead || !last.Next.IsZero() || e.taken[second] != 1 {
			t.Errorf("after its time it is %+v, and taken is %v", last, e.taken)
		}
		if r.result != (Result{Dead: 1}) {
			t.Errorf("it leaves %+v", r.result)
		}
		mustBe := func(dead int, state delivery.State) {
			t.Helper()
			n := 0
			for a, err := range Dead(r.config.State) {
				again, failed := Resend(t.Context(), r.config.Sender, a)
				if err = errors.Join(err, failed); err != nil || a.Event.ID != first || again.Delivery.State != state {
					t.Errorf("sent again it is %+v: %v", again, err)
				}
				n++
			}
			if n != dead {
				t.Errorf("%d events are dead, not %d", n, dead)
			}
		}
		mustBe(1, delivery.Dead)
		e.set(func() { refuses = false })
		mustBe(1, delivery.Delivered)
		mustBe(0, "")
		if e.taken[first] != 1 {
			t.Errorf("it was taken %d times", e.taken[first])
		}
	})
}

// A target says with Retry-After when it wants to be asked again.
func TestATargetThatAsksForAPauseGetsIt(t *testing.T) {
	at := func(from time.Time, after time.Duration) string { return from.Add(after).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		name  string
		after func(began time.Time) string
		pause time.Duration // 0: the usual one
	}{
		{"in seconds", func(time.Time) string { return "120" }, 2 * time.Minute},
		{"as a date", func(began time.Time) string { return at(began, 3*time.Minute) }, 3 * time.Minute},
		{"longer than any usual one", func(time.Time) string { return "1800" }, 30 * time.Minute},
		{"longer than an event is tried", func(time.Time) string { return "86400" }, GiveUp},
		{"shorter than the usual one", func(time.Time) string { return "0" }, 0},
		{"a date that is past", func(began time.Time) string { return at(began, -time.Hour) }, 0},
		{"unreadable", func(time.Time) string { return "soon" }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJournal()
				id := j.add(t)
				v := verdict{status: http.StatusTooManyRequests, after: c.after(time.Now())}
				r := start(t, j, newEndpoint(func(api.Event, *rand.Rand) verdict { return v }))
				pass(GiveUp + time.Minute)
				r.stop()
				all := r.of(id)
				least, most := c.pause-time.Second, c.pause+time.Second
				if c.pause == 0 {
					least, most = firstPause/2, 2*firstPause
				}
				if paused := all[1].Sent.Sub(all[0].Sent); paused < least || paused > most {
					t.Errorf("it is asked again after %v, want %v to %v", paused, least, most)
				}
				last := all[len(all)-1]
				if tried := last.Sent.Sub(all[0].Sent); last.State != delivery.Dead || tried > GiveUp+time.Second {
					t.Errorf("at last it is %s, %v after the first attempt", last.State, tried)
				}
			})
		})
	}
}

func TestEachTargetGoesOnByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		first, second := j.add(t), j.add(t)
		e, fails := newEndpoint(taking), map[string]bool{"down": true}
		r := start(t, j, byHost{e, fails}, func(c *Config) {
			c.Targets = []Target{{URL: "http://up?token=secret"}, {URL: "http://down"}}
		})
		pass(time.Minute)
		if r.stop(); e.taken[first] != 1 || e.taken[second] != 1 || r.result.Waiting != 2 {
			t.Errorf("taken is %v, and %d wait", e.taken, r.result.Waiting)
		}
		for _, a := range r.all {
			if strings.Contains(string(a.Delivery.Target), "secret") {
				t.Errorf("a target is shown as %s", a.Delivery.Target)
			}
		}
		fails["down"] = false
		r.begin()
		pass(time.Minute)
		if r.stop(); e.taken[first] != 2 || e.taken[second] != 2 {
			t.Errorf("once both are up, taken is %v", e.taken)
		}
	})
}

func TestTheEndWaitsForTheAttemptUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		id := j.add(t)
		e := newEndpoint(taking)
		e.seen = func(api.Event) { time.Sleep(3 * time.Second) }
		r := start(t, j, e)
		pass(time.Second)
		began := time.Now()
		r.stop()
		if took := time.Since(began); took < 2*time.Second || e.taken[id] != 1 {
			t.Errorf("it ended after %v, taken is %v", took, e.taken)
		}
		r.begin()
		pass(time.Minute)
		if r.stop(); len(e.tried) != 1 {
			t.Errorf("after a good end, %v was tried", e.tried)
		}
	})
}

// TestWhateverHappensNothingIsLost has a target that fails a third of all attempts, hangs,
// is down, and never takes some events. At every attempt, what is on disk must be right
// for a process that is killed just then.
func TestWhateverHappensNothingIsLost(t *testing.T) {
	const events, ends = 1_000, 20
	dice := rand.New(rand.NewPCG(3, 4))
	synctest.Test(t, func(t *testing.T) {
		j, down := newJournal(), false
		var order []api.ID
		poison := map[api.ID]bool{}
		e := newEndpoint(func(e api.Event, dice *rand.Rand) verdict {
			switch n := dice.IntN(300); {
			case down:
				return verdict{}
			case poison[e.ID], n < 99:
				return verdict{status: 500}
			case n == 99:
				return verdict{hangs: true}
			}
			return verdict{status: 200}
		})
		r := newRun(t, j, e)
		e.seen = func(tried api.Event) {
			dead := map[api.ID]bool{}
			for a, err := range Dead(r.config.State) {
				if dead[a.Event.ID] = true; err != nil {
					t.Error(err)
				}
			}
			for _, id := range order[:slices.Index(order, tried.ID)] {
				if e.taken[id] == 0 && !dead[id] {
					t.Errorf("%s is tried before %s was taken or given up", tried.ID, id)
				}
			}
			cursor, err := stateOf(r.config.State, r.config.Relay, "http://target").cursor()
			seq := 0
			if _, err := fmt.Sscanf(cursor, "epoch:%d", &seq); err != nil {
				t.Error(err)
			}
			for _, id := range order[:seq] {
				if e.taken[id] == 0 && !dead[id] {
					t.Errorf("the cursor %s has passed %s: %v", cursor, id, err)
				}
			}
		}
		for n := range ends {
			for i := range events / ends {
				id := j.add(t)
				order = append(order, id)
				poison[id] = i == 7 && n%4 == 1
			}
			e.set(func() { down = dice.IntN(4) == 0 })
			r.begin()
			pass(time.Duration(dice.IntN(60_000)) * time.Millisecond)
			r.stop()
		}
		e.set(func() { down = false })
		r.begin()
		pass(12 * time.Hour)
		r.stop()
		for _, id := range order {
			if (e.taken[id] == 1) == poison[id] {
				t.Errorf("%s was taken %d times", id, e.taken[id])
			}
		}
	})
}

func TestWhereAStreamBeginsIsKeptBeforeAnythingArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		old := j.add(t)
		e := newEndpoint(taking)
		r := start(t, j, e, func(c *Config) {
			c.Subscribe = func(t Target, cursor string) (Source, error) {
				if cursor == "" {
					cursor = "epoch:1" // the latest
				}
				return j.subscribe(t, cursor)
			}
		})
		pass(time.Second)
		r.stop()
		missed := j.add(t)
		r.begin()
		pass(time.Second)
		if r.stop(); e.taken[missed] != 1 || e.taken[old] != 0 {
			t.Errorf("taken is %v", e.taken)
		}
	})
}

func TestWhatEndsARun(t *testing.T) {
	for _, c := range []struct {
		name, says string
		prepare    func(c *Config, at state)
	}{
		{"a cursor that cannot be read", "holds no cursor: remove it", func(_ *Config, at state) {
			mustWrite(t, at.file("cursor"), "nonsense\n")
		}},
		{"a folder that is a file", "not a directory", func(c *Config, at state) {
			c.State = at.file("cursor")
			mustWrite(t, c.State, "")
		}},
		{"nobody who reads the attempts", "broken pipe", func(c *Config, _ state) {
			c.OnAttempt = func(Attempt) error { return errors.New("broken pipe") }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJournal()
				j.add(t)
				r := start(t, j, newEndpoint(taking), func(config *Config) {
					at := stateOf(config.State, config.Relay, "http://target")
					if err := os.MkdirAll(string(at), 0o700); err != nil {
						t.Fatal(err)
					}
					c.prepare(config, at)
				})
				<-r.ended
				text := fmt.Sprint(r.err)
				if !strings.HasPrefix(text, "forwarding to http://target: ") || !strings.Contains(text, c.says) {
					t.Errorf("it ends with %s", text)
				}
			})
		})
	}
}

func TestOneRunAtATimeSendsToATarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newJournal(), newEndpoint(taking))
		pass(time.Second)
		if _, err := Run(t.Context(), r.config); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("the second ends with %v", err)
		}
		r.stop()
	})
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
