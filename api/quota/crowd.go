package quota

import "time"

// How low requests give way to others.
const (
	crowdRemembered = 30 * time.Second // and half as long again, on average
	leastPatience   = 2 * time.Second
	mostPatience    = 20 * time.Second
	seeingPatience  = time.Minute // where others are seen without asking

	// Steps of this part of a window come evenly to all its parts, and no two alike.
	goldenPart = shortest * 618 / 1000
)

// crowd is how many requests others put into one window of a short bucket, so that
// requests below Person leave room for all of them: who waits until the bucket is
// seen to be empty has already taken the place of another.
type crowd struct {
	now, before meetings
	used, own   int64         // of the window of the last answer: by all, and by this client
	last        time.Time     // when that came
	patience    time.Duration // between requests below Person while others need it all
	offset      time.Duration // and besides, so that each answer comes elsewhere in its window
}

// meetings is what answers have shown of others within a time.
type meetings struct {
	began    time.Time
	answers  int64 // to this client
	sum      int64 // requests of others that they had counted in their windows
	most     int64 // requests of others that one of them had counted in its window
	observed int64 // the most within one window that were seen by somebody
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

// ownIn is how many of this client's requests a window holds of which so much is used,
// by its last answer: those since which ever more was used.
func (c *crowd) ownIn(used int64, window time.Duration, now time.Time) int64 {
	if c.own++; used <= c.used || now.Sub(c.last) >= window {
		c.own = 1
	}
	c.used, c.last = used, now
	return c.own
}

// met takes what one answer has shown: so many of others, where there is room for
// most.
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

// observed takes how many requests of others were seen within one window.
func (c *crowd) observed(count int64, now time.Time) {
	c.turn(now)
	c.now.observed = max(c.now.observed, count)
}

// size is how many requests of others are to be expected in a window. An answer comes
// somewhere in its window and has counted what came before it: of n answers the one
// that has counted the most has missed one part in n+1.
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
