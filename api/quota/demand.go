package quota

import "time"

// How requests below Person give way to others.
const (
	demandRemembered = 30 * time.Second // on average half as long again
	leastPatience    = 2 * time.Second
	mostPatience     = 20 * time.Second
	seeingPatience   = time.Minute // if others are observed without asking

	// Steps of this part of a window spread evenly over it without repeating.
	goldenPart = shortest * 618 / 1000
)

// demand estimates how many requests others put into one window of a short bucket, so that requests below Person
// leave room for all of them: waiting until the bucket is seen empty would already take another's place.
type demand struct {
	now, before demandSeen
	used, own   int64         // in the last answer's window: by all, and by this client
	last        time.Time     // when that answer came
	patience    time.Duration // pause between requests below Person while others need everything
	offset      time.Duration // added to it, so that answers fall in different parts of their windows
}

// demandSeen is what answers showed of others over a time.
type demandSeen struct {
	began    time.Time
	answers  int64 // to this client
	sum      int64 // requests of others that they counted in their windows
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

// ownIn returns how many of this client's requests are in the last answer's window, of which used requests are
// used: its requests since used last fell.
func (d *demand) ownIn(used int64, window time.Duration, now time.Time) int64 {
	if d.own++; used <= d.used || now.Sub(d.last) >= window {
		d.own = 1
	}
	d.used, d.last = used, now
	return d.own
}

// answered takes in one answer: it counted others requests of others, of at most most.
func (d *demand) answered(others, most int64, now time.Time) {
	d.turn(now)
	d.now.answers++
	d.now.most = max(d.now.most, others)
	d.now.sum += others
	d.offset = (d.offset + goldenPart) % shortest
	if d.size(now) < most {
		d.patience = leastPatience
	} else {
		d.patience = min(max(2*d.patience, leastPatience), d.mostPatience())
	}
}

func (d *demand) mostPatience() time.Duration {
	if d.now.observed+d.before.observed > 0 {
		return seeingPatience
	}
	return mostPatience
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
		most = max(most+most/answers, 2*(d.now.sum+d.before.sum)/answers)
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
