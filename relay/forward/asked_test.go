package forward

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
)

// A target says with Retry-After when it wants to be asked again.
func TestATargetThatAsksForAPauseGetsIt(t *testing.T) {
	at := func(from time.Time, after time.Duration) string { return from.Add(after).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		name        string
		after       func(began time.Time) string
		sources     int
		least, most time.Duration // before anything is tried again
	}{
		{"in seconds", func(time.Time) string { return "120" }, 2, 120 * time.Second, 121 * time.Second},
		{"as a date", func(began time.Time) string { return at(began, 3*time.Minute) }, 2, 179 * time.Second, 181 * time.Second},
		{"shorter than the usual one", func(time.Time) string { return "0" }, 2, firstPause / 2, firstPause + time.Second},
		{"too long", func(time.Time) string { return "86400" }, 2, 10 * time.Minute, 10*time.Minute + time.Second},
		{"a date that is past", func(began time.Time) string { return at(began, -time.Hour) }, 2, firstPause / 2, firstPause + time.Second},
		{"unreadable", func(time.Time) string { return "soon" }, 2, firstPause / 2, firstPause + time.Second},
		{"with many sources", func(time.Time) string { return "120" }, 3 * downAfter, 120 * time.Second, 121 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				j, v := newJournal(), verdict{status: http.StatusTooManyRequests, after: c.after(began)}
				e := newEndpoint(func(api.Event, *rand.Rand) verdict { return v })
				for i := range c.sources {
					j.add(t, strconv.Itoa(i), "x")
				}
				f := start(t, j, e)
				defer f.stop()
				pass(100 * time.Millisecond)
				if c.least > time.Minute {
					j.add(t, "of another source, later", "x")
				}
				tried := 0
				e.set(func() { tried, v = len(e.tried), verdict{status: http.StatusOK} })
				for ; ; pass(100 * time.Millisecond) {
					more := false
					e.set(func() { more = len(e.tried) > tried })
					if more {
						break
					}
				}
				if paused := time.Since(began); paused < c.least || paused > c.most {
					t.Errorf("it is asked again after %v, want %v to %v", paused, c.least, c.most)
				}
				pass(2 * time.Second)
				e.set(func() {
					if len(e.taken) != len(j.items) {
						t.Errorf("after the pause it has %d of %d events", len(e.taken), len(j.items))
					}
				})
			})
		})
	}
}

// 410 says that asking again is of no use.
func TestAnEventThatIsGoneIsGivenUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		first, second := j.add(t, "a", "gone"), j.add(t, "a", "x")
		e := newEndpoint(func(e api.Event, _ *rand.Rand) verdict {
			if e.Type == "gone" {
				return verdict{status: http.StatusGone}
			}
			return verdict{status: http.StatusOK}
		})
		f := start(t, j, e)
		pass(5 * time.Minute)
		if d := f.log(first); d.State != delivery.Dead || d.Attempts != 1 || !d.Next.IsZero() {
			t.Errorf("the event is %s after %d attempts, the next one at %v", d.State, d.Attempts, d.Next)
		}
		if e.taken[second] != 1 {
			t.Error("the next event of its source was not delivered")
		}
		f.stop()
	})
}
