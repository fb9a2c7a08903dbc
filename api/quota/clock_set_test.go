package quota

import (
	"strings"
	"testing"
	"time"
)

// A clock that was days ahead for a minute has filled the ring with spans to come.
func TestAfterTheClockWasSetBackTheRingCountsOn(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := newRing(time.Second, 60)
	for i := range 60 {
		r.at(noon.Add(72*time.Hour+time.Duration(i)*time.Second)).own++
	}
	r.samples(noon.Add(73 * time.Hour))
	r.samples(noon)
	for i := range 10 {
		r.at(noon.Add(time.Duration(i)*time.Second)).own++
	}
	now := noon.Add(10 * time.Second)
	sum := 0
	for _, s := range r.samples(now) {
		sum += s.Own
	}
	if own, _ := r.rates(60, noon, now); sum != 10 || own != 1 {
		t.Errorf("%d requests and %v a second since the clock is right, want 10 and 1", sum, own)
	}
}

// An observer's times have no monotonic reading: by them alone, a report would hold for
// as long as the clock is set back.
func TestAReportIsHeldByTheClockThatNobodySets(t *testing.T) {
	p, now := NewPacer(PacerConfig{}), time.Now() // in a bubble of synctest there is only one clock
	p.Observe(&Observation{
		ID: "1", Class: Reads, Sent: now.Round(0).Add(-time.Second), Latency: time.Millisecond, Status: 200,
		Reports: []Report{{Policy: "default", PolicyKnown: true, Limit: 10, Window: time.Second, RemainingKnown: true, Remaining: 0, ResetKnown: true, Reset: time.Second}},
	})
	l := p.queue(Reads).book.ledgers[0]
	for name, at := range map[string]time.Time{"the report ends": l.limit.until, "it was sent": l.sent, "others were seen": l.limit.others} {
		if !strings.Contains(at.String(), "m=") {
			t.Errorf("%s at %v, by the clock on the wall", name, at)
		}
	}
}
