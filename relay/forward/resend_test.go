package forward

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestADeadEventIsNotSentAgainWhileAnotherProcessResendsDeadOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, fails := newJournal(), true
		event := j.add(t, "a", "x")
		e := newEndpoint(failing("a", &fails))
		f := start(t, j, e, func(c *Config) { c.GiveUp = time.Minute })
		pass(10 * time.Minute)
		e.set(func() { fails = false })
		id := deliveryID(event, "http://target")
		another := func() *State {
			other, err := OpenState(f.config.State)
			if err == nil {
				err = other.ClaimDead()
			}
			if err != nil {
				t.Fatal(err)
			}
			return other
		}
		other := another()
		err := f.Again(t.Context(), id)
		pass(time.Second)
		if err == nil || !strings.Contains(err.Error(), "resends dead events already") || e.taken[event] != 0 {
			t.Errorf("meanwhile it was taken %d times, %v", e.taken[event], err)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		if err := f.Again(t.Context(), id); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		if e.taken[event] != 1 {
			t.Errorf("afterwards it was taken %d times", e.taken[event])
		}
		if err := another().Close(); err != nil { // the forwarder claims them for an attempt only
			t.Error(err)
		}
		f.stop()
	})
}

func TestADeadEventThatIsOnItsWayIsNotSentTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, fails := newJournal(), true
		event := j.add(t, "a", "x")
		e := newEndpoint(failing("a", &fails))
		f := start(t, j, e, func(c *Config) { c.GiveUp = time.Minute })
		pass(10 * time.Minute)
		e.set(func() { fails = false })
		for range 2 {
			if err := f.Again(t.Context(), deliveryID(event, "http://target")); err != nil {
				t.Error(err)
			}
		}
		pass(time.Second)
		if e.taken[event] != 1 {
			t.Errorf("it was taken %d times", e.taken[event])
		}
		f.stop()
	})
}
