package plain

import (
	"maps"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// littleKnown is how long the account must be watched before its pulse means anything.
const littleKnown = time.Minute

// pulse prints how the day goes and how fast the service is. It does so at the first
// change of each hour, once the counts of intents are printed.
func (t *printer) pulse(s *account.Summary) {
	hour := t.now.Format("2006-01-02 15")
	if !t.intentsSummed || s.Known.IsZero() || t.now.Sub(s.Known) < littleKnown || hour == t.pulseHour {
		return
	}
	t.pulseHour = hour
	p := account.PulseOf(maps.Values(t.picture), s, t.now)
	t.say("pulse %s", wording.Day(&p))
	t.say("pulse awaiting a decision: %s", wording.Awaited(&p))
	for _, times := range []struct {
		what                   string
		today, yesterday, week account.Pace
	}{{"an offer", p.Today.Offer, p.Before.Offer, p.Week.Offer}, {"an order", p.Today.Order, p.Before.Order, p.Week.Order}} {
		if times.today.Count > 0 {
			t.say("pulse time to %s: %s", times.what, wording.Times(times.today, times.yesterday, times.week))
		}
	}
	for i := range s.Latency {
		l := &s.Latency[i]
		t.say("pulse latency of %s: %s", wording.LatencyOf(l), wording.Latency(l, t.now))
	}
}
