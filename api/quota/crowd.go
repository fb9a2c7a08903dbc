package quota

import "time"

// How requests below Person give way to others.
const (
	crowdRemembered = 30 * time.Second // on average half as long again
	leastPatience   = 2 * time.Second
	mostPatience    = 20 * time.Second
	seeingPatience  = time.Minute // if others are observed without asking

	// Steps of this part of a window spread evenly over it without repeating.
	goldenPart = shortest * 618 / 1000
)

// crowd estimates how many requests others put into one window of a short bucket, so that requests below Person
// leave room for all of them: waiting until the bucket is seen empty would already take another's place.
type crowd struct {
	now, before meetings
	used, own   int64         // in the last answer's window: by all, and by this client
	last        time.Time     // when that answer came
	patience    time.Duration // pause between requests below Person while others need everything
	offset      time.Duration // added to it, so that answers fall in different parts of their windows
}

// meetings is what answers showed of others over a time.
type meetings struct {
	began    time.Time
	answers  int64 // to this client
	sum      int64 // requests of others that they counted in their windows
	most     int64 // the most requests of others that one of them counted
	observed int64 // the most requests of others observed within one window
}

func (c *crowd) turn(now time.Time) {
	if now.Sub(c.now.began) < crowdRemembered {
		return
	}
	c.before, c.now = c.now, meetings{began: now}
	if now.Sub(c.before.began) > 2*crowdRemembered {
		c.before = meetings{}
	}
}

// ownIn returns how many of this client's requests are in the last answer's window, of which used requests are
// used: its requests since used last fell.
func (c *crowd) ownIn(used int64, window time.Duration, now time.Time) int64 {
	if c.own++; used <= c.used || now.Sub(c.last) >= window {
		c.own = 1
	}
	c.used, c.last = used, now
	return c.own
}

// met takes in one answer: it counted others requests of others, of at most most.
func (c *crowd) met(others, most int64, now time.Time) {
	c.turn(now)
	c.now.answers++
	c.now.most = max(c.now.most, others)
	c.now.sum += others
	c.offset = (c.offset + goldenPart) % shortest
	if c.size(now) < most {
		c.patience = leastPatience
	} else {
		c.patience = min(max(2*c.patience, leastPatience), c.mostPatience())
	}
}

func (c *crowd) mostPatience() time.Duration {
	if c.now.observed+c.before.observed > 0 {
		return seeingPatience
	}
	return mostPatience
}

// observed takes in how many requests of others were observed within one window.
func (c *crowd) observed(count int64, now time.Time) {
	c.turn(now)
	c.now.observed = max(c.now.observed, count)
}

// size is how many requests of others to expect in a window. An answer counts what came before it in its window:
// of n answers, the highest count misses one part in n+1.
func (c *crowd) size(now time.Time) int64 {
	if now.Sub(c.now.began) > 2*crowdRemembered {
		return 0
	}
	most, answers := max(c.now.most, c.before.most), c.now.answers+c.before.answers
	if answers > 0 {
		most = max(most+most/answers, 2*(c.now.sum+c.before.sum)/answers)
	}
	return max(most, c.now.observed, c.before.observed)
}

// crowded reports whether others need all but the reserve.
func (b *limit) crowded(reserve int64, now time.Time) bool {
	if b.requests == 0 || b.window == 0 || b.window > shortest {
		return false
	}
	return b.crowd.size(now)+max(reserve, 1) >= b.requests
}
