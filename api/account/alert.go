package account

import (
	"fmt"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Alert is something that a person should know. Each is raised once and cleared
// when it is over.
type Alert struct {
	Kind   AlertKind `json:"kind"`
	Text   string    `json:"text"`
	Intent api.ID    `json:"intent,omitempty"` // when it is about one
	Since  time.Time `json:"since,omitzero"`
	Due    time.Time `json:"due,omitzero"` // by when what Text ends with comes about; zero when there is no such moment
}

// AlertKind is what an alert is about.
type AlertKind string

// The kinds of alerts.
const (
	AlertRelay    AlertKind = "relay"
	AlertAPI      AlertKind = "api"
	AlertAwaiting AlertKind = "awaiting"
	AlertExpiring AlertKind = "expiring"
	AlertStuck    AlertKind = "stuck"
	AlertFailed   AlertKind = "failed"
	AlertQuota    AlertKind = "quota"
	AlertGap      AlertKind = "gap"
	AlertDay      AlertKind = "day"
	AlertSaving   AlertKind = "saving"
	AlertList     AlertKind = "watch list"
	AlertKey      AlertKind = "key"
)

// AlertKinds lists them.
func AlertKinds() []AlertKind {
	return []AlertKind{AlertRelay, AlertAPI, AlertAwaiting, AlertExpiring, AlertStuck, AlertFailed, AlertQuota, AlertGap, AlertDay, AlertSaving, AlertList}
}

// AlertConfig sets the thresholds of alerts. 0 means the default, and what is
// below 0 never raises its alert.
type AlertConfig struct {
	AwaitingAfter  time.Duration // awaiting confirmation for so long; default 20 min
	ExpiringWithin time.Duration // before the confirm window closes; default 10 min
	StuckAfter     time.Duration // placing for so long, while the account has no history; default 5 min
	StuckFactor    float64       // placing for so many times the account's own 95th percentile; default 3
	FailedFor      time.Duration // for so long a failure is told of; default 5 min
	RelayLostAfter time.Duration // default 10 s
	SilentAfter    int           // changes found by reading, one after the other, of which no event told; default 3
	QuotaWithin    time.Duration // forecast of exhaustion; default 30 s
	DayLeft        int           // intents left of the day's; default 5
}

func (c AlertConfig) withDefaults() AlertConfig {
	unlessSet(&c.AwaitingAfter, 20*time.Minute)
	unlessSet(&c.ExpiringWithin, 10*time.Minute)
	unlessSet(&c.StuckAfter, 5*time.Minute)
	unlessSet(&c.StuckFactor, 3)
	unlessSet(&c.FailedFor, 5*time.Minute)
	unlessSet(&c.RelayLostAfter, 10*time.Second)
	unlessSet(&c.SilentAfter, 3)
	unlessSet(&c.QuotaWithin, 30*time.Second)
	unlessSet(&c.DayLeft, 5)
	return c
}

func unlessSet[T int | float64 | time.Duration](value *T, fallback T) {
	if *value == 0 {
		*value = fallback
	}
}

// judge raises an alert while stands holds, and clears it when it does not.
func (b *alertBook) judge(stands bool, key alertKey, now time.Time, text func() string) {
	if _, standing := b.standing[key]; standing == stands {
		return
	}
	if stands {
		b.raise(key, Alert{Kind: key.kind, Text: text(), Intent: key.intent, Since: now})
	} else {
		b.clear(key)
	}
}

// judgeUntil is [alertBook.judge] for an alert whose Since and Due are known, and may
// become better known while it stands.
func (b *alertBook) judgeUntil(stands bool, key alertKey, a Alert) {
	switch standing, any := b.standing[key]; {
	case !stands && any:
		b.clear(key)
	case stands && (!any || standing != a):
		b.raise(key, a)
	default:
		return
	}
}

// judgeAnew is [alertBook.judge] for an alert whose text may become better known
// while it stands.
func (b *alertBook) judgeAnew(stands bool, key alertKey, now time.Time, text func() string) {
	b.judge(stands, key, now, text)
	if !stands {
		return
	}
	if a := b.standing[key]; a.Text != text() {
		a.Text = text()
		b.raise(key, a)
	}
}

func (b *alertBook) judgeAPI(h *health, now time.Time) {
	b.judge(h.State == APIFailing, alertKey{kind: AlertAPI, cause: "failing"}, now, func() string {
		return "the API does not answer as it should"
	})
	b.judge(h.State == APIUnauthorized, alertKey{kind: AlertAPI, cause: "unauthorized"}, now, func() string {
		return "the API refuses the key"
	})
}

// judgeFeed tells of a feed that is lost, refuses, has a gap, or is silent although so
// many changes were found by reading.
func (b *alertBook) judgeFeed(f *following, silent int, now time.Time) {
	c := &b.cfg
	down := c.RelayLostAfter > 0 && !f.down.IsZero() && now.Sub(f.down) > c.RelayLostAfter
	b.judge(down, alertKey{kind: AlertRelay, cause: "down"}, now, func() string {
		return "the relay cannot be reached; open intents are polled"
	})
	b.judge(f.State == FeedRefused, alertKey{kind: AlertRelay, cause: "refused"}, now, func() string {
		return "the relay refuses this client; open intents are polled"
	})
	b.judge(c.SilentAfter > 0 && f.State == FeedLive && silent >= c.SilentAfter, alertKey{kind: AlertRelay, cause: "silent"}, now, func() string {
		return "no events arrive at the relay, though intents or shipments change: see where the service sends its webhooks"
	})
	b.judge(f.gap.open, alertKey{kind: AlertGap}, now, func() string { return f.gap.words })
}

// judgeQuota tells which buckets will be used up soon, or stay used up.
func (b *alertBook) judgeQuota(buckets []quota.Bucket, now time.Time) {
	for _, bucket := range buckets {
		key := alertKey{kind: AlertQuota, cause: fmt.Sprintf("%s %s %d %s", bucket.Class, bucket.Policy, bucket.Limit, bucket.Window)}
		soon := bucket.Exhausted > 0 && bucket.Exhausted < b.cfg.QuotaWithin
		if bucket.Window < longWindow {
			// Such a bucket is empty for a moment whenever it is used well, and full
			// again in the next.
			b.judge(b.keepsEmpty(key, soon, now), key, now, func() string {
				return fmt.Sprintf("the quota of %s stays used up: requests have to wait", bucket.Class)
			})
			continue
		}
		b.judge(soon, key, now, func() string {
			return fmt.Sprintf("%s will be used up within %s at this pace", bucket.Class, short(b.cfg.QuotaWithin))
		})
	}
}

const (
	longWindow = time.Minute     // from which on an exhausted bucket lasts
	emptyFor   = 5 * time.Second // so long a shorter one has to stay empty
)

// ReportWatchList raises an alert as long as the user's list of intents to watch
// has faults.
func (s *Store) ReportWatchList(err error) { s.report(AlertList, "", err) }

// ReportKey raises an alert as long as another API key was given that cannot be
// used.
func (s *Store) ReportKey(err error) { s.report(AlertKey, "", err) }

// report raises an alert as long as something has an error.
func (s *Store) report(kind AlertKind, words string, err error) {
	s.mu.Lock()
	defer s.release()
	s.alerts.judgeAnew(err != nil, alertKey{kind: kind}, time.Now(), func() string { return words + string(api.Scrub(err.Error())) })
}
