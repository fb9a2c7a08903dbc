package quota

import (
	"slices"
	"time"
)

// Bounds of what is kept to tell how much everybody together has spent.
const (
	mostFacts   = 4096
	settledTime = 5 * time.Second // by then what overlaps with an answer has been answered too
	mostResets  = 64              // remembered, to tell how windows run
)

// fact is one answer of a bucket with a short window, whoever asked.
type fact struct {
	at, ended time.Time // when it was sent, and answered
	remaining int64
	refused   bool
}

// total estimates how many requests a bucket has charged to whom nobody saw, from
// what the answers to all others report. Where the windows do not slide, the last
// answer within one tells of all that came before it; what came behind it is taken
// to go on at the pace that was seen between answers.
type total struct {
	facts []fact // those not settled, by when they were sent

	settled time.Time // up to which windows are booked
	began   time.Time // the first answer of the last of them
	windows int
	resets  int // of the last windows, those that began with a full bucket

	unseen, seen float64       // of others and of those who reported, between the reports of one window
	between      time.Duration // in so much time
}

// add takes an answer, in its place; not one whose window is settled.
func (t *total) add(f fact) bool {
	if !f.at.After(t.settled) || len(t.facts) >= mostFacts {
		return false
	}
	at, _ := slices.BinarySearchFunc(t.facts, f.at, func(f fact, at time.Time) int {
		if f.at.After(at) {
			return 1
		}
		return -1
	})
	t.facts = slices.Insert(t.facts, at, f)
	return true
}

// settle books the windows that are over for so long that nothing of them can still
// come, but from somebody who was away.
func (t *total) settle(l *limit, now time.Time, book func(at time.Time, count float64)) {
	for len(t.facts) > 0 {
		n := t.windowEnd(l)
		if now.Sub(t.facts[n-1].at) < settledTime+l.window {
			return
		}
		window := t.facts[:n]
		if count := t.unknown(window, l); t.tells() {
			book(window[0].at, count)
		}
		t.settled = window[n-1].at
		t.facts = slices.Delete(t.facts, 0, n)
	}
}

// windowEnd is how many of the facts lie in the first window: the next one has as
// much left again, although it was sent later, or is too late for it.
func (t *total) windowEnd(l *limit) int {
	least := t.facts[0]
	for i, f := range t.facts[1:] {
		again := f.remaining >= least.remaining && f.remaining > 0 && !f.at.Before(least.ended)
		if again || f.at.Sub(t.facts[0].ended) >= l.window {
			return i + 1
		}
		if f.remaining < least.remaining {
			least = f
		}
	}
	return len(t.facts)
}

// unknown is how many requests of one window nobody saw.
func (t *total) unknown(window []fact, l *limit) float64 {
	first, last := window[0], window[len(window)-1]
	least, known := first.remaining, 0.0
	for _, f := range window {
		least = min(least, f.remaining)
		if !f.refused {
			known++
		}
	}
	rest := float64(l.requests-least) - known
	later := known // than the first
	if !first.refused {
		later--
	}
	t.windows++
	if first.remaining == l.requests-1 && first.at.Sub(t.began) >= l.window/2 {
		t.resets++
	}
	t.began = first.at
	if t.windows > mostResets {
		t.windows, t.resets = t.windows/2, t.resets/2
	}
	span := last.at.Sub(first.at)
	t.unseen += float64(first.remaining-least) - later
	t.seen += later
	t.between += span
	if t.between > time.Minute {
		t.unseen, t.seen, t.between = t.unseen/2, t.seen/2, t.between/2
	}
	if least == 0 || t.between <= 0 || t.unseen <= 0 {
		return rest
	}
	// A window that begins with the clock, not with a request, is idle for a moment
	// before: a quarter of the time between requests errs as much for either kind.
	before := (float64(l.requests-first.remaining-1) + 0.25) / ((t.unseen + t.seen) / t.between.Seconds())
	behind := max(l.window.Seconds()-span.Seconds()-before, 0)
	return rest + min(behind*t.unseen/t.between.Seconds(), float64(least))
}

// tells reports whether the answers tell of requests that nobody saw: windows are
// seen to begin with a full bucket, and do not slide, and more is used in them than
// answers that cross each other explain.
func (t *total) tells() bool {
	return t.windows >= 4 && 4*t.resets >= t.windows && t.unseen > 0.08*t.seen
}
