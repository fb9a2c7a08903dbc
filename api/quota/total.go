package quota

import (
	"slices"
	"time"
)

// Bounds of the estimate of everyone's total spending.
const (
	mostFacts   = 4096
	settledTime = 5 * time.Second // by then requests that overlap with an answer have ended too
	mostResets  = 64              // windows remembered, to learn how windows run
)

// fact is one answer of a short-window bucket, to whomever.
type fact struct {
	at, ended time.Time // when it was sent, and answered
	remaining int64
	refused   bool
}

// total estimates, from the answers to all observed requests, how many requests of a bucket nobody observed. If
// windows do not slide, the last answer in one counts all before it; after it, the pace seen between answers is
// assumed to go on.
type total struct {
	facts []fact // not settled, by when they were sent

	settled time.Time // windows are booked up to here
	began   time.Time // the first answer of the last one booked
	windows int
	resets  int // how many of the last windows began with a full bucket

	unseen, seen float64       // requests not observed, and observed ones, between the answers of one window
	between      time.Duration // the time between those answers
}

// add inserts an answer by time; false if its window is settled already.
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

// settle books windows that ended so long ago that only an observer who was away can still report on them.
func (t *total) settle(l *limit, now time.Time, book func(at time.Time, count float64)) {
	for len(t.facts) > 0 {
		n := t.windowEnd(l)
		if now.Sub(t.facts[n-1].at) < settledTime+l.window {
			return
		}
		window := t.facts[:n]
		if count := t.unknown(window, l); t.showsOthers() {
			book(window[0].at, count)
		}
		t.settled = window[n-1].at
		t.facts = slices.Delete(t.facts, 0, n)
	}
}

// windowEnd returns how many facts lie in the first window: the next one was sent later but has as much left
// again, or is too late for it.
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

// unknown returns how many requests of one window nobody observed.
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
	later := known // later than the first
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
	// A window that begins with the clock, not with a request, is first idle for a moment: assuming a quarter of the
	// time between requests errs equally for both kinds.
	before := (float64(l.requests-first.remaining-1) + 0.25) / ((t.unseen + t.seen) / t.between.Seconds())
	behind := max(l.window.Seconds()-span.Seconds()-before, 0)
	return rest + min(behind*t.unseen/t.between.Seconds(), float64(least))
}

// showsOthers reports whether the answers show unobserved requests: windows begin with a full bucket and do not slide,
// and more is used in them than overlapping answers explain.
func (t *total) showsOthers() bool {
	return t.windows >= 4 && 4*t.resets >= t.windows && t.unseen > 0.08*t.seen
}
