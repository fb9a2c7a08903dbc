package forward

import (
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
)

// What a state says of times was written by a clock that may have been wrong, and perhaps
// days ago.
func TestNoClockGivesAnEventUpOrHoldsItBack(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name    string
		away    time.Duration // between two runs
		rewrite string        // what the clock wrote otherwise
	}{
		{"nothing ran for days", 3 * day, ""},
		{"the clock was days ahead", 0, "UPDATE held SET next = next + 259200000, since = since + 259200000"},
		{"the clock was days ahead when the event was tried first", 0, "UPDATE held SET since = since + 259200000"},
		{"the clock was years behind", 20 * 365 * day, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, fails := newJournal(), true
				event := j.add(t, "a", api.IntentCompleted)
				f := start(t, j, newEndpoint(failing("a", &fails)))
				pass(10 * time.Minute)
				before := f.settled(event).Attempts
				f.stop()
				time.Sleep(c.away)
				f.rewrite(c.rewrite)
				f.begin()
				pass(5 * time.Minute)
				if d := f.settled(event); d.State != delivery.Waiting || d.Attempts < before+4 || d.Attempts > before+12 {
					t.Errorf("after 5 minutes more the event is %s, with %d attempts after %d", d.State, d.Attempts, before)
				}
				pass(day - 20*time.Minute)
				if d := f.settled(event); d.State != delivery.Waiting {
					t.Errorf("before a day of attempts it is %s", d.State)
				}
				pass(20 * time.Minute)
				if d := f.settled(event); d.State != delivery.Dead {
					t.Errorf("after a day of attempts it is %s", d.State)
				}
				f.stop()
			})
		})
	}
}

// settled is what is remembered of an event between two attempts.
func (f *forwarding) settled(event api.ID) delivery.Delivery {
	f.t.Helper()
	for f.log(event).State == delivery.Sending {
		pass(time.Millisecond)
	}
	return f.log(event)
}

// rewrite changes the state of a forwarder that has ended.
func (f *forwarding) rewrite(statement string) {
	f.t.Helper()
	state, err := OpenState(f.config.State)
	if err != nil {
		f.t.Fatal(err)
	}
	defer state.Close()
	if _, err := state.db.Exec(statement); err != nil && statement != "" {
		f.t.Fatal(err)
	}
}
