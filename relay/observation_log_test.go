package relay

import (
	"fmt"
	"testing"
	"time"
)

func texts(from, to int) (all []observation) {
	for n := from; n <= to; n++ {
		all = append(all, observation{id: fmt.Sprint(n), text: fmt.Appendf(nil, "%06d", n)})
	}
	return all
}

// read reads a log to its end in frames of limit bytes.
func (l *observationLog) read(t *testing.T, at int64, limit int, now time.Time) (all []string, end int64) {
	t.Helper()
	for {
		some, last, _ := l.after(at, limit, now)
		if len(some) == 0 {
			return all, at
		}
		if last <= at {
			t.Fatalf("position %d follows %d", last, at)
		}
		at = last
		for _, text := range some {
			all = append(all, string(text))
		}
	}
}

func TestObservationsAreReadInOrderFromAnyPosition(t *testing.T) {
	l, now := newObservationLog(time.Time{}), time.Now()
	l.add(texts(1, 100), now)
	for _, limit := range []int{1, 7, 60, 1 << 20} {
		all, _ := l.read(t, 0, limit, now)
		for i, text := range all {
			if text != fmt.Sprintf("%06d", i+1) {
				t.Fatalf("in frames of %d: number %d is %s", limit, i+1, text)
			}
		}
		if len(all) != 100 {
			t.Errorf("in frames of %d: %d of 100", limit, len(all))
		}
	}
	_, middle, _ := l.after(0, 40*6, now)
	if all, _ := l.read(t, middle, 1<<20, now); len(all) != 60 || all[0] != "000041" {
		t.Errorf("behind the fortieth: %d, beginning with %v", len(all), all[:1])
	}
	if all, _ := l.read(t, position(now.Add(24*time.Hour)), 1<<20, now); len(all) != 0 {
		t.Errorf("behind the end: %d", len(all))
	}
}

func TestAnObservationIsKeptOnceByItsID(t *testing.T) {
	l, now := newObservationLog(time.Time{}), time.Now()
	l.add(texts(1, 10), now)
	if fresh, _ := l.add(texts(6, 15), now); fresh != 5 {
		t.Errorf("%d are new, want 5", fresh)
	}
	if fresh, _ := l.add(append(texts(16, 16), texts(16, 16)...), now); fresh != 1 {
		t.Errorf("of one that comes twice in a batch, %d are new", fresh)
	}
	if all, _ := l.read(t, 0, 1<<20, now); len(all) != 16 {
		t.Errorf("%d are there, want 16", len(all))
	}
}

func TestObservationsOlderThanAnHourAreLetGo(t *testing.T) {
	l, now := newObservationLog(time.Time{}), time.Now()
	l.add(texts(1, 10), now)
	if all, _ := l.read(t, 0, 1<<20, now.Add(observationSpan)); len(all) != 10 {
		t.Errorf("after an hour %d of 10 are read", len(all))
	}
	later := now.Add(observationSpan + time.Second)
	if all, _ := l.read(t, 0, 1<<20, later); len(all) != 0 {
		t.Errorf("after more than an hour %d are read", len(all))
	}
	if _, dropped := l.add(texts(11, 11), later); dropped != 0 || l.count() != 1 || len(l.known) != 1 {
		t.Errorf("%d are kept and %d dropped after their hour", l.count(), dropped)
	}
}

func TestTheObservationLogIsBoundedInNumberAndSize(t *testing.T) {
	now := time.Now()
	l := newObservationLog(time.Time{})
	dropped := 0
	for n := 0; n < maxObservations+2500; n += 500 {
		_, gone := l.add(texts(n+1, n+500), now)
		dropped += gone
	}
	if l.count() != maxObservations || dropped != 2500 || len(l.known) != maxObservations {
		t.Errorf("%d are kept, %d dropped, %d known", l.count(), dropped, len(l.known))
	}
	if some, _, _ := l.after(0, 1, now); string(some[0]) != "002501" {
		t.Errorf("the oldest is %s", some[0])
	}
	if since := l.wholeSince(now); since.Sub(now).Abs() > time.Second {
		t.Errorf("whole since %v, though some of %v were dropped", since, now)
	}
	large := newObservationLog(time.Time{})
	for n := range 30 {
		large.add([]observation{{id: fmt.Sprint(n), text: make([]byte, 1<<20)}}, now)
	}
	if large.count() != maxObservationBytes>>20 || large.bytes > maxObservationBytes {
		t.Errorf("%d of 1 MiB are kept, %d bytes", large.count(), large.bytes)
	}
}

// A clock that was set back, or two in the same moment, never make two positions one.
func TestPositionsRiseWhateverTheClockSays(t *testing.T) {
	l, now := newObservationLog(time.Time{}), time.Now()
	l.add(texts(1, 3), now)
	l.add(texts(4, 6), now.Add(-time.Minute))
	if all, _ := l.read(t, 0, 1, now); len(all) != 6 {
		t.Errorf("%d of 6 are read", len(all))
	}
}

func TestWhatComesTwiceIsThereOnce(t *testing.T) {
	l, now := newObservationLog(time.Time{}), time.Now()
	l.add(texts(1, 10), now)
	if fresh, _ := l.add(texts(6, 12), now); fresh != 2 {
		t.Errorf("%d are taken for new", fresh)
	}
	if all, _ := l.read(t, 0, 1<<20, now); len(all) != 12 || all[11] != "000012" {
		t.Errorf("%v are there", all)
	}
}
