package account

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// alertKey makes an alert the same as long as it stands.
type alertKey struct {
	kind   AlertKind
	intent api.ID // that it is about; "" for none
	cause  string // distinguishes alerts of one kind that are about no intent
}

// alerts decides which alerts stand, and holds them.
type alerts struct {
	news     *news
	cfg      AlertConfig
	window   time.Duration // in which an intent may be confirmed
	pace     paces         // of the account
	standing map[alertKey]Alert
	list     []Alert                // in order, as it was listed last; nil once it no longer holds. It is replaced, never changed
	empty    map[alertKey]time.Time // buckets of short windows, and since when nothing is left
}

func newAlerts(n *news, cfg AlertConfig, window time.Duration, pace paces) alerts {
	return alerts{news: n, cfg: cfg, window: window, pace: pace, standing: map[alertKey]Alert{}, empty: map[alertKey]time.Time{}}
}

// judge raises an alert while stands holds, and clears it when it does not. One that
// stands keeps its words.
func (b *alerts) judge(stands bool, key alertKey, now time.Time, format string, args ...any) {
	if _, standing := b.standing[key]; !stands || !standing {
		b.renew(stands, key, Alert{Since: now, Text: fmt.Sprintf(format, args...)})
	}
}

// renew is [alerts.judge] for an alert of which more may become known while it
// stands.
func (b *alerts) renew(stands bool, key alertKey, a Alert) {
	a.Kind, a.Intent, a.Cause = key.kind, key.intent, key.cause
	standing, any := b.standing[key]
	switch {
	case stands && standing != a:
		b.standing[key] = a
	case !stands && any:
		delete(b.standing, key)
	default:
		return
	}
	b.list = nil
	b.news.stamp()
}

// since returns since when an alert stands; now when it does not.
func (b *alerts) since(key alertKey, now time.Time) time.Time {
	return cmp.Or(b.standing[key].Since, now)
}

// inOrder lists the alerts, the longest standing first.
func (b *alerts) inOrder() []Alert {
	if b.list == nil {
		b.list = slices.SortedFunc(maps.Values(b.standing), func(a, b Alert) int {
			return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Text, b.Text))
		})
	}
	return b.list
}

func (b *alerts) judgeAPI(h *health, now time.Time) {
	b.judge(h.State == APIFailing, alertKey{kind: AlertAPI, cause: "failing"}, now, "the API does not answer as it should")
	b.judge(h.State == APIUnauthorized, alertKey{kind: AlertAPI, cause: "unauthorized"}, now, "the API refuses the key")
}

// judgeFeed judges whether the feed is lost, refuses, has a gap, or is silent although
// so many changes were found by reading.
func (b *alerts) judgeFeed(f *following, silent int, now time.Time) {
	c := &b.cfg
	down := c.RelayLostAfter > 0 && !f.down.IsZero() && now.Sub(f.down) > c.RelayLostAfter
	b.judge(down, alertKey{kind: AlertRelay, cause: "down"}, now, "the relay cannot be reached; open intents are polled")
	b.judge(f.State == FeedRefused, alertKey{kind: AlertRelay, cause: "refused"}, now, "the relay refuses this client; open intents are polled")
	b.judge(c.SilentAfter > 0 && f.State == FeedLive && silent >= c.SilentAfter, alertKey{kind: AlertRelay, cause: "silent"}, now,
		"no events arrive at the relay, though intents or shipments change: see where the service sends its webhooks")
	key := alertKey{kind: AlertSignature}
	b.renew(f.Wrong != "", key, Alert{Since: b.since(key, now), Text: string(f.Wrong)})
	b.judge(f.gap.open, alertKey{kind: AlertGap}, now, "%s", f.gap.words)
}

const (
	longWindow = time.Minute     // from which on an exhausted bucket lasts
	emptyFor   = 5 * time.Second // so long a shorter one has to stay empty
)

// judgeQuota judges which buckets will be used up soon, or stay used up.
func (b *alerts) judgeQuota(buckets []quota.Bucket, now time.Time) {
	for _, bucket := range buckets {
		key := alertKey{kind: AlertQuota, cause: fmt.Sprintf("%s %s %d %s", bucket.Class, bucket.Policy, bucket.Limit, bucket.Window)}
		soon := bucket.Exhausted > 0 && bucket.Exhausted < b.cfg.QuotaWithin
		if bucket.Window < longWindow {
			// Such a bucket is empty for a moment whenever it is used well, and full
			// again in the next.
			b.judge(b.keepsEmpty(key, soon, now), key, now, "the quota of %s stays used up: requests have to wait", bucket.Class)
		} else {
			b.judge(soon, key, now, "%s will be used up within %s at this pace", bucket.Class, api.Span(b.cfg.QuotaWithin))
		}
	}
}

// keepsEmpty reports whether a bucket was empty for a while whenever it was judged.
func (b *alerts) keepsEmpty(key alertKey, empty bool, now time.Time) bool {
	if !empty {
		delete(b.empty, key)
		return false
	}
	since, known := b.empty[key]
	if !known {
		b.empty[key] = now
	}
	return known && now.Sub(since) >= emptyFor
}

// judgeDay judges whether few of the day's intents are left, or none.
func (b *alerts) judgeDay(d DayCount, now time.Time) {
	spent, left := !d.Spent.IsZero(), d.Limit-d.Used()
	watched := b.cfg.DayLeft > 0
	b.renew(watched && spent, alertKey{kind: AlertDay, cause: Spent}, Alert{Text: d.spentWords(), Since: d.Spent, Due: d.Free})
	near := watched && !spent && d.Limit > 0 && left <= b.cfg.DayLeft
	b.judge(near, alertKey{kind: AlertDay, cause: "near"}, now, "at least %d of the day's %d intents are used%s", d.Used(), d.Limit, d.Doubt())
}

// Report raises an alert as long as something of a kind has an error: the user's list
// of intents to watch, another API key that cannot be used, or where alerts are to go.
func (s *Store) Report(kind AlertKind, err error) {
	now, key := time.Now(), alertKey{kind: kind}
	s.mu.Lock()
	defer s.release()
	s.alerts.renew(err != nil, key, Alert{Since: s.alerts.since(key, now), Text: errorText(err)})
}
