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
