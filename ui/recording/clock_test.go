package recording

import (
	"testing"
	"time"
)

// A clock that was days ahead for a minute must not hold a recording up for days.
func TestARecordingGoesOnAfterTheClockWasSetBack(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := &writer{}
	before := w.moment(noon.Add(72 * time.Hour))
	w.moment(noon)
	if passed := w.moment(noon.Add(time.Minute)).Sub(before); passed != time.Minute {
		t.Errorf("after a minute it is %v later in the file", passed)
	}
}

func TestThePastIsLetGoAlsoAfterTheClockWasSetBack(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := NewPast()
	p.chapters = []keptChapter{{ended: p.out.moment(noon.Add(72 * time.Hour))}}
	for at := noon; at.Before(noon.Add(PastSpan + 2*time.Minute)); at = at.Add(time.Minute) {
		p.bound(at)
	}
	if len(p.chapters) > 0 {
		t.Error("what is older than the past is kept")
	}
}
