package quota

import "time"

// How requests below Person give way to others.
const (
	demandRemembered = 30 * time.Second // on average half as long again
	leastPatience    = 2 * time.Second
	mostPatience     = 20 * time.Second
	seeingPatience   = time.Minute // if others are observed without asking
)

// demand estimates how many requests others put into one window of a short bucket, so that requests below Person
// leave room for all of them: waiting until the bucket is seen empty would already take another's place.
type demand struct {
	now, before demandSeen
	patience    time.Duration // pause between requests below Person while others need everything
}

// demandSeen is what answers showed of others over a time.
type demandSeen struct {
	began    time.Time
	answers  int64 // to this client
	most     int64 // the most requests of others that one of them counted
	observed int64 // the most requests of others observed within one window
}

func (d *demand) turn(now time.Time) {
	if now.Sub(d.now.began) < demandRemembered {
		return
	}
	d.before, d.now = d.now, demandSeen{began: now}
	if now.Sub(d.before.began) > 2*demandRemembered {
		d.before = demandSeen{}
	}
}

// answered takes in one answer: it counted others requests of others, of at most most.
func (d *demand) answered(others, most int64, now time.Time) {
	d.turn(now)
	d.now.answers++
	d.now.most = max(d.now.most, others)
	longest := mostPatience
	if d.now.observed+d.before.observed > 0 {
		longest = seeingPatience
	}
	if d.patience = min(max(2*d.patience, leastPatience), longest); d.size(now) < most {
		d.patience = leastPatience
	}
}

// observed takes in how many requests of others were observed within one window.
func (d *demand) observed(count int64, now time.Time) {
	d.turn(now)
	d.now.observed = max(d.now.observed, count)
}

// size is how many requests of others to expect in a window. An answer counts what came before it in its window:
// of n answers, the highest count misses one part in n+1.
func (d *demand) size(now time.Time) int64 {
	if now.Sub(d.now.began) > 2*demandRemembered {
		return 0
	}
	most, answers := max(d.now.most, d.before.most), d.now.answers+d.before.answers
	if answers > 0 {
		most += most / answers
	}
	return max(most, d.now.observed, d.before.observed)
}

// contended reports whether others need all but the reserve.
func (b *limit) contended(reserve int64, now time.Time) bool {
	if b.requests == 0 || b.window == 0 || b.window > shortest {
		return false
	}
	return b.demand.size(now)+max(reserve, 1) >= b.requests
}
