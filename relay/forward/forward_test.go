package forward

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// forwarding runs a forwarder to one endpoint, http://target, in simulated time.
type forwarding struct {
	*Forwarder
	t      *testing.T
	config Config
	cancel context.CancelFunc
	ended  chan error
}

func start(t *testing.T, j *journal, e *endpoint, change ...func(*Config)) *forwarding {
	t.Helper()
	config := Config{
		State: filepath.Join(t.TempDir(), "state"), Targets: []Target{{URL: "http://target"}},
		Sender: Sender{Prefix: "x-svc-", Transport: e}, Subscribe: j.subscribe,
	}
	for _, do := range change {
		do(&config)
	}
	f := &forwarding{t: t, config: config}
	f.begin()
	return f
}

func (f *forwarding) begin() {
	f.t.Helper()
	f.Forwarder = mustOpen(f.t, f.config)
	ctx, cancel := context.WithCancel(f.t.Context())
	f.cancel, f.ended = cancel, make(chan error, 1)
	go func() { f.ended <- f.Run(ctx) }()
}

// stop ends it in good order.
func (f *forwarding) stop() {
	f.t.Helper()
	f.cancel()
	if err := <-f.ended; err != nil {
		f.t.Error(err)
	}
	if err := f.Close(); err != nil {
		f.t.Error(err)
	}
}

// log is what is remembered of an event.
func (f *forwarding) log(event api.ID) delivery.Delivery {
	f.t.Helper()
	d, ok := f.Deliveries().Find(deliveryID(event, "http://target"))
	if !ok {
		f.t.Fatalf("nothing is remembered of %s", event)
	}
	return *d
}

// pass lets time pass, and what is due be done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// failing refuses the events of one source, until told otherwise.
func failing(source string, fails *bool) func(api.Event, *rand.Rand) verdict {
	return func(e api.Event, _ *rand.Rand) verdict {
		if *fails && string(e.Source.ID) == source {
			return verdict{status: 503}
		}
		return verdict{status: 200}
	}
}

func TestAnEventThatIsNotTakenHoldsUpItsSourceAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, fails := newJournal(), true
		first, other, second := j.add(t, "a", "x"), j.add(t, "b", "x"), j.add(t, "a", "x")
		e := newEndpoint(failing("a", &fails))
		f := start(t, j, e)
		pass(10 * time.Minute)
		if e.taken[other] != 1 || slices.Contains(e.tried, second) {
			t.Errorf("tried was %v, taken %v", e.tried, e.taken)
		}
		for f.log(first).State == delivery.Sending { // just now
			pass(time.Millisecond)
		}
		// The first six pauses take 31.5 s to 63 s, each of those that follow 30 s to 60 s.
		if d := f.log(first); d.State != delivery.Waiting || d.Attempts < 15 || d.Attempts > 25 || d.Next.Sub(d.Sent) > lastPause+time.Second {
			t.Errorf("the first is %+v", d)
		}
		later := j.add(t, "c", "x")
		pass(time.Second)
		if e.taken[later] != 1 {
			t.Error("a later event of another source waits")
		}
		f.stop()
		e.set(func() { fails = false })
		f.begin()
		pass(time.Minute)
		if e.taken[first] != 1 || e.taken[second] != 1 || e.taken[other] != 1 || slices.Index(e.tried, second) < len(e.tried)-1 {
			t.Errorf("after a restart, taken is %v in the order %v", e.taken, e.tried)
		}
		if waiting, dead, err := f.Left(); waiting+dead != 0 || err != nil {
			t.Errorf("%d wait, %d are dead, %v", waiting, dead, err)
		}
		f.stop()
	})
}

func TestAnEventIsGivenUpAndSentAgainWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, fails := newJournal(), true
		first, second := j.add(t, "a", "x"), j.add(t, "a", "x")
		e := newEndpoint(failing("a", &fails))
		given := 0
		f := start(t, j, e, func(c *Config) {
			c.GiveUp = time.Hour
			c.Attempted = func(h Held) {
				if h.Dead {
					given++
				}
			}
		})
		pass(time.Hour - time.Minute)
		if d := f.log(first); d.State != delivery.Waiting {
			t.Errorf("before its time, the first is %s", d.State)
		}
		pass(3 * time.Minute)
		if d := f.log(first); d.State != delivery.Dead || !d.Next.IsZero() || given != 1 {
			t.Errorf("after its time, the first is %+v", d)
		}
		if d := f.log(second); d.State != delivery.Waiting || d.Attempts == 0 {
			t.Errorf("the second is %s after %d attempts", d.State, d.Attempts)
		}
		id := deliveryID(first, "http://target")
		mustBe := func(state delivery.State, taken int) {
			t.Helper()
			if err := f.Again(t.Context(), id); err != nil {
				t.Error(err)
			}
			pass(time.Second)
			if d := f.log(first); d.State != state || e.taken[first] != taken {
				t.Errorf("sent again, it is %s and was taken %d times", d.State, e.taken[first])
			}
		}
		mustBe(delivery.Dead, 0)
		e.set(func() { fails = false })
		mustBe(delivery.Delivered, 1)
		mustBe(delivery.Delivered, 2)
		if err := f.Again(t.Context(), "evt_none"); err == nil {
			t.Error("an event that nobody knows is sent again")
		}
		if _, dead, err := f.Left(); dead != 0 || err != nil {
			t.Errorf("%d are still dead, %v", dead, err)
		}
		name := f.config.Sender.Prefix + "timestamp" // as the service writes it
		sent := func(i int) []string { return e.requests[i].Header[name] }
		if at := sent(len(e.requests) - 1); len(at) != 1 || !slices.Equal(at, sent(0)) {
			t.Errorf("the timestamp becomes %v", at)
		}
		f.stop()
	})
}

func TestATargetThatIsDownIsAskedNowAndThenAndGetsAllWhenItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, up := newJournal(), false
		e := newEndpoint(func(api.Event, *rand.Rand) verdict {
			if up {
				return verdict{status: 200}
			}
			return verdict{}
		})
		for i := range 1_000 {
			j.add(t, strconv.Itoa(i), "x")
		}
		f := start(t, j, e)
		pass(time.Hour)
		if n := len(e.tried); n < 100 || n > 1_000 {
			t.Errorf("in an hour a target that is down is asked %d times", n)
		}
		if waiting, _, err := f.Left(); waiting != 1_000 || err != nil {
			t.Errorf("%d events wait, %v", waiting, err)
		}
		e.set(func() { up = true })
		pass(lastProbe + 5*time.Second)
		if len(e.taken) != 1_000 {
			t.Errorf("soon after it is back, it has %d", len(e.taken))
		}
		f.stop()
	})
}

func TestEachTargetGoesOnByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		first := j.add(t, "a", "x")
		e := newEndpoint(taking)
		fails := map[string]bool{"down": true}
		at := func(c *Config) {
			c.Targets = []Target{{URL: "http://up?token=secret"}, {URL: "http://down"}}
			c.Sender.Transport = byHost{e, fails}
		}
		f := start(t, j, e, at)
		pass(time.Second)
		second := j.add(t, "b", "x")
		pass(time.Minute)
		f.stop()
		if e.taken[first] != 1 || e.taken[second] != 1 {
			t.Errorf("taken is %v", e.taken)
		}
		all, _ := f.Deliveries().Since(0)
		for _, d := range all {
			if strings.Contains(string(d.Target), "secret") {
				t.Errorf("a target is shown as %s", d.Target)
			}
		}
		fails["down"] = false
		f.begin()
		pass(2 * time.Minute)
		if e.taken[first] != 2 || e.taken[second] != 2 {
			t.Errorf("once both are up, taken is %v", e.taken)
		}
		f.stop()
		f.config.Targets, f.config.Subscribe = f.config.Targets[:1], j.subscribe
		j.add(t, "c", "x")
		f.begin()
		if others, err := f.Elsewhere(); len(others) != 0 || err != nil {
			t.Errorf("for others there wait %v, %v", others, err)
		}
		f.stop()
	})
}

func TestTheEndWaitsForWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		id := j.add(t, "a", "x")
		e := newEndpoint(taking)
		e.seen = func(api.Event) { time.Sleep(3 * time.Second) }
		f := start(t, j, e)
		pass(time.Second)
		began := time.Now()
		f.stop()
		if took := time.Since(began); took < 2*time.Second || e.taken[id] != 1 {
			t.Errorf("it ended after %v, taken is %v", took, e.taken)
		}
		f.begin()
		pass(time.Minute)
		f.stop()
		if len(e.tried) != 1 {
			t.Errorf("after a good end, %v was tried", e.tried)
		}
	})
}

func TestAChallengeComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		id := j.add(t, "a", "x")
		attempts := 0
		e := newEndpoint(func(e api.Event, _ *rand.Rand) verdict {
			if e.Type != api.VerificationChallenge {
				return verdict{status: 200}
			}
			if attempts++; attempts < 4 {
				return verdict{status: 200, answers: []string{`{}`, `{"challenge":"x"}`, `{"challenge":"` + string(e.Source.ID) + `","more":1}`}[attempts-1]}
			}
			return verdict{status: 200, answers: ` {"challenge": "` + string(e.Source.ID) + `"} `}
		})
		f := start(t, j, e, func(c *Config) { c.Challenge = true })
		pass(time.Minute)
		if attempts != 4 || e.taken[id] != 1 || e.tried[len(e.tried)-1] != id || len(e.tried) != 5 {
			t.Errorf("after %d challenges, tried was %v", attempts, e.tried)
		}
		f.stop()
	})
}

func TestWhoEndsBeforeAChallengeIsAnsweredIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, newJournal(), newEndpoint(func(api.Event, *rand.Rand) verdict { return verdict{status: 200} }), func(c *Config) { c.Challenge = true })
		pass(time.Minute)
		f.cancel()
		if err := <-f.ended; err == nil || !strings.Contains(err.Error(), "http://target got no events: it has not answered its challenge") {
			t.Errorf("it ends with %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOneForwarderDoesWithAState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, newJournal(), newEndpoint(taking))
		if _, err := Open(f.config); err == nil || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())+" forwards events already") {
			t.Errorf("a second one: %v", err)
		}
		f.stop()
		f.begin()
		f.stop()
		file := filepath.Join(t.TempDir(), "at.cursor")
		if err := os.WriteFile(file, []byte("epoch:7\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.config.State = file
		if _, err := Open(f.config); err == nil || !strings.Contains(err.Error(), "name another file") {
			t.Errorf("the cursor of events: %v", err)
		}
	})
}

func TestTheStateMayHaveAnyName(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"state.db", "a b#c%41&d+e.db"} {
		state, err := OpenState(name)
		if err != nil {
			t.Fatal(err)
		}
		if file, err := os.Stat(name); err != nil || file.Size() == 0 {
			t.Errorf("the state is not in %s: %v, %v", name, file, err)
		}
		if err := state.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhereAStreamBeginsIsKeptBeforeAnythingArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		old := j.add(t, "a", "x")
		e := newEndpoint(taking)
		f := start(t, j, e, func(c *Config) {
			c.Subscribe = func(t Target, cursor string) (Source, error) {
				if cursor == "" {
					cursor = "epoch:1" // the latest
				}
				return j.subscribe(t, cursor)
			}
		})
		synctest.Wait()
		f.kill()
		f.cancel()
		<-f.ended
		f.Close()
		missed := j.add(t, "a", "x")
		f.config.Subscribe = func(t Target, cursor string) (Source, error) { return j.subscribe(t, cursor) }
		f.begin()
		pass(time.Second)
		f.stop()
		if e.taken[missed] != 1 || e.taken[old] != 0 {
			t.Errorf("taken is %v", e.taken)
		}
	})
}

func TestAForwarderSaysThatItIsLiveWithWhatWaitsAndOnceNothingDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, fails := newJournal(), true
		j.add(t, "a", "x")
		j.add(t, "a", "x")
		j.add(t, "b", "x")
		var told []string
		e := newEndpoint(failing("a", &fails))
		f := start(t, j, e, func(c *Config) {
			c.Attempted = func(h Held) { told = append(told, string(h.Event.Source.ID)+" "+string(h.Delivery.State)) }
			c.Status = func(_ api.Text, s relay.Status, waiting int) {
				told = append(told, string(s.State)+" "+strconv.Itoa(waiting))
			}
		})
		pass(100 * time.Millisecond)
		e.set(func() { fails = false })
		pass(5 * time.Second)
		f.stop()
		first, last := told[0], told[len(told)-1]
		if first != "replaying 0" || last != "live 0" || !slices.Contains(told, "live 3") && !slices.Contains(told, "live 2") || slices.Index(told, "live 0") != len(told)-1 {
			t.Errorf("got %q", told)
		}
	})
}
