package account

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
)

// intentAlerts says which alerts stand for an intent.
type intentAlerts uint8

const (
	alertsExpiring intentAlerts = 1 << iota
	alertsAwaiting
	alertsStuck
	alertsFailed
)

// judgeIntent decides on the alerts of one intent.
func (s *Store) judgeIntent(r *intentRecord, now time.Time) {
	awaits := r.state == api.AwaitingConfirmation && !r.gone
	places := r.state == api.PlacingOrder && !r.gone
	failed := s.justFailed(r, now)
	if awaits || places || failed {
		if !r.alertable {
			r.alertable = true
			s.alertable = append(s.alertable, r.number)
		}
	} else if r.alerts == 0 {
		return
	}
	stand := intentAlerts(0)
	switch {
	case awaits:
		stand = s.alertsAwaiting(r, now)
	case places:
		if limit := s.stuckAfter(); limit > 0 && now.Sub(r.since.time()) > limit {
			stand = alertsStuck
		}
	case failed:
		stand = alertsFailed
	}
	if stand|r.alerts == 0 {
		return
	}
	s.judgeIntentAs(r, stand, now)
	r.alerts = stand
}

func (s *Store) alertsAwaiting(r *intentRecord, now time.Time) intentAlerts {
	c, at := &s.cfg.Alerts, instantOf(now)
	expires := r.created + instant(s.cfg.ConfirmWindow)
	switch {
	case c.ExpiringWithin > 0 && r.created != 0 && time.Duration(expires-at) <= c.ExpiringWithin:
		return alertsExpiring
	case c.AwaitingAfter > 0 && time.Duration(at-r.since) > c.AwaitingAfter:
		return alertsAwaiting
	}
	return 0
}

// judgeIntentAs raises and clears alerts of an intent so that these stand.
func (s *Store) judgeIntentAs(r *intentRecord, stand intentAlerts, now time.Time) {
	id := r.id
	key := func(kind AlertKind) alertKey { return alertKey{kind: kind, intent: id} }
	changed := stand ^ r.alerts
	switch expiring := key(AlertExpiring); {
	case stand&alertsExpiring != 0:
		s.expire(expiring, r, now)
	case changed&alertsExpiring != 0:
		s.judge(false, expiring, now, nil)
	}
	if changed&alertsAwaiting != 0 {
		s.judge(stand&alertsAwaiting != 0, key(AlertAwaiting), now, func() string {
			return fmt.Sprintf("%s has been awaiting confirmation for more than %s", s.nameOf(r), short(s.cfg.Alerts.AwaitingAfter))
		})
	}
	if changed&alertsStuck != 0 {
		s.judge(stand&alertsStuck != 0, key(AlertStuck), now, func() string {
			return fmt.Sprintf("%s has been placing for more than %s", s.nameOf(r), short(s.stuckAfter()))
		})
	}
	if (stand|changed)&alertsFailed != 0 {
		s.judgeAnew(stand&alertsFailed != 0, key(AlertFailed), now, func() string { return s.failureWords(r) })
	}
}

// expire raises the alert that an intent expires, or tells anew when it does.
func (s *Store) expire(key alertKey, r *intentRecord, now time.Time) {
	due := s.expiresAt(r)
	a := Alert{Kind: key.kind, Intent: key.intent, Since: now}
	if standing := s.alerts.standing[key]; standing != nil {
		if standing.Due.Equal(due) {
			return
		}
		a = *standing
	} else {
		a.Text = s.nameOf(r) + " expires unless it is confirmed"
	}
	a.Due = due
	s.alerts.raise(key, a)
	s.stamp()
}

// judgeBatch bounds how many intents are judged while readers and writers wait.
const judgeBatch = 256

// judgeAlertable decides on the alerts of all intents that time alone may raise
// one for, a batch at a time, and forgets the others.
func (s *Store) judgeAlertable(now time.Time) {
	for next, more := 0, true; more; {
		next, more = s.judgeSome(next, now)
	}
}

func (s *Store) judgeSome(from int, now time.Time) (next int, more bool) {
	s.mu.Lock()
	defer s.release()
	next = from
	for range judgeBatch {
		if next >= len(s.alertable) {
			return next, false
		}
		r := s.intentBlocks.at(s.alertable[next])
		s.judgeIntent(r, now)
		if r.state == api.AwaitingConfirmation || r.state == api.PlacingOrder || r.alerts != 0 {
			next++
			continue
		}
		r.alertable = false
		last := len(s.alertable) - 1
		s.alertable[next] = s.alertable[last]
		s.alertable = s.alertable[:last]
	}
	return next, true
}

// justFailed reports whether an intent failed a short while ago. Of one that was
// created long before, it is only known since when that is known.
func (s *Store) justFailed(r *intentRecord, now time.Time) bool {
	if r.state != api.Failed || r.gone {
		return false
	}
	lasts := s.cfg.Alerts.FailedFor
	return now.Sub(r.since.time()) < lasts && (r.created == 0 || time.Duration(r.since-r.created) < s.cfg.ConfirmWindow+lasts)
}

func (s *Store) failureWords(r *intentRecord) string {
	if failure := s.publish(r).Failure; failure != nil && failure.Code != "" {
		return s.nameOf(r) + " failed: " + words(string(failure.Code))
	}
	return s.nameOf(r) + " failed"
}

// short is a threshold without the units that say nothing.
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// stuckAfter is how long an intent may be placing until it counts as stuck; 0 or
// less: for ever.
func (s *Store) stuckAfter() time.Duration {
	c := &s.cfg.Alerts
	if usual := s.usualStay(api.PlacingOrder); usual > 0 && c.StuckFactor > 0 && c.StuckAfter > 0 {
		return time.Duration(c.StuckFactor * float64(usual))
	}
	return c.StuckAfter
}

func (s *Store) nameOf(r *intentRecord) string {
	return cmp.Or(string(r.product), string(r.id))
}

func words(code string) string { return strings.ReplaceAll(string(api.Scrub(code)), "_", " ") }
