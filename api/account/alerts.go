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

// alertKey identifies an alert while it stands.
type alertKey struct {
	kind   AlertKind
	intent api.ID // the intent concerned; "" for none
	cause  string // tells apart alerts of one kind that concern no intent
}

// alerts decides which alerts stand, and holds them.
type alerts struct {
	news     *news
	cfg      AlertConfig
	window   time.Duration // the confirm window
	pace     paces         // of the account
	clock    *clockCheck
	standing map[alertKey]Alert
	list     []Alert                // sorted; nil once outdated. It is replaced, never changed
	empty    map[alertKey]time.Time // buckets with short windows, and since when each is empty
}

func newAlerts(n *news, cfg AlertConfig, window time.Duration, pace paces, clock *clockCheck) alerts {
	return alerts{news: n, cfg: cfg, window: window, pace: pace, clock: clock, standing: map[alertKey]Alert{}, empty: map[alertKey]time.Time{}}
}

// judge raises an alert while stands holds and clears it otherwise. A standing alert keeps its text.
func (b *alerts) judge(stands bool, key alertKey, now time.Time, format string, args ...any) {
	if _, standing := b.standing[key]; !stands || !standing {
		b.renew(stands, key, Alert{Since: now, Text: fmt.Sprintf(format, args...)})
	}
}

// renew is [alerts.judge] for an alert whose text may change while it stands.
func (b *alerts) renew(stands bool, key alertKey, a Alert) {
	a.Kind, a.Intent, a.Cause = key.kind, key.intent, key.cause
	standing, stood := b.standing[key]
	switch {
	case stands && standing != a:
		b.standing[key] = a
	case !stands && stood:
		delete(b.standing, key)
	default:
		return
	}
	b.list = nil
	b.news.stamp()
}

// since returns when a standing alert began, or now if it does not stand.
func (b *alerts) since(key alertKey, now time.Time) time.Time {
	return cmp.Or(b.standing[key].Since, now)
}

// inOrder lists the alerts: unknown outcomes of confirms first, then the oldest first.
func (b *alerts) inOrder() []Alert {
	if b.list == nil {
		b.list = slices.SortedFunc(maps.Values(b.standing), func(a, b Alert) int {
			return cmp.Or(cmp.Compare(above(a), above(b)), a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Text, b.Text))
		})
	}
	return b.list
}

// above is 0 for an alert above all others, and 1 for the others.
func above(a Alert) int {
	if a.Kind == AlertConfirm {
		return 0
	}
	return 1
}

func (b *alerts) judgeAPI(h *health, now time.Time) {
	b.judge(h.State == APIFailing, alertKey{kind: AlertAPI, cause: "failing"}, now, "the API does not answer as it should")
	b.judge(h.State == APIUnauthorized, alertKey{kind: AlertAPI, cause: "unauthorized"}, now, "the API refuses the key")
	key, words := alertKey{kind: AlertClock}, h.clock.words()
	b.renew(words != "", key, Alert{Since: b.since(key, now), Text: words})
}

// judgeFeed raises alerts about the feed: lost, refused, with a gap, or silent although reads found changes.
func (b *alerts) judgeFeed(f *following, silent int, now time.Time) {
	c := &b.cfg
	down := c.RelayLostAfter > 0 && !f.down.IsZero() && now.Sub(f.down) > c.RelayLostAfter
	b.judge(down, alertKey{kind: AlertRelay, cause: "down"}, now, "the relay cannot be reached; open intents are polled")
	b.judge(f.State == FeedRefused, alertKey{kind: AlertRelay, cause: "refused"}, now, "the relay refuses this client; open intents are polled")
	b.judge(c.SilentAfter > 0 && f.State == FeedLive && silent >= c.SilentAfter, alertKey{kind: AlertRelay, cause: "silent"}, now,
		"no events arrive at the relay, though intents or shipments change: check where the service sends its webhooks")
	key := alertKey{kind: AlertSignature}
	b.renew(f.Wrong != "", key, Alert{Since: b.since(key, now), Text: string(f.Wrong)})
	b.judge(f.gap.open, alertKey{kind: AlertGap}, now, "%s", f.gap.words)
}

const (
	longWindow = time.Minute     // buckets with at least this window are judged by their forecast
	emptyFor   = 5 * time.Second // how long a bucket with a shorter window must stay empty
)

// judgeQuota raises alerts about buckets that are used up or soon will be. It clears those of buckets that no longer
// exist, as after a change of the limit.
func (b *alerts) judgeQuota(buckets []quota.Bucket, now time.Time) {
	present := map[alertKey]bool{}
	for _, bucket := range buckets {
		key := alertKey{kind: AlertQuota, cause: fmt.Sprintf("%s %s %d %s", bucket.Class, bucket.Policy, bucket.Limit, bucket.Window)}
		present[key] = true
		soon := bucket.Exhausted > 0 && bucket.Exhausted < b.cfg.QuotaWithin
		if bucket.Window < longWindow {
			// A short window empties whenever it is used well, and refills at once.
			b.judge(b.keepsEmpty(key, soon, now), key, now, "the quota of %s stays used up: requests have to wait", bucket.Class)
		} else {
			text := fmt.Sprintf("%s will be used up within %s at this pace", bucket.Class, api.Span(b.cfg.QuotaWithin))
			if bucket.Exhausted == 1 {
				text = fmt.Sprintf("the quota of %s is used up: requests have to wait", bucket.Class)
			}
			b.renew(soon, key, Alert{Since: b.since(key, now), Text: text})
		}
	}
	for key := range b.standing {
		if key.kind == AlertQuota && !present[key] {
			b.renew(false, key, Alert{})
		}
	}
	maps.DeleteFunc(b.empty, func(key alertKey, _ time.Time) bool { return !present[key] })
}

// keepsEmpty reports whether a bucket has been empty at every check for emptyFor.
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

// judgeDay raises alerts when few or none of the day's intents are left.
func (b *alerts) judgeDay(d DayCount, now time.Time) {
	spent, left := !d.Spent.IsZero(), d.Limit-d.Used()
	watched := b.cfg.DayLeft > 0
	b.renew(watched && spent, alertKey{kind: AlertDay, cause: Spent}, Alert{Text: d.spentWords(), Since: d.Spent, Due: d.Free})
	near := watched && !spent && d.Limit > 0 && left <= b.cfg.DayLeft
	key := alertKey{kind: AlertDay, cause: "near"}
	b.renew(near, key, Alert{Since: b.since(key, now), Text: fmt.Sprintf("at least %d of the day's %d intents are used%s", d.Used(), d.Limit, d.Doubt())})
}

// Report raises an alert of a kind while err is not nil, and clears it otherwise: for the watch list, an API key
// that cannot be used, or the place where alerts are sent.
func (s *Store) Report(kind AlertKind, err error) {
	now, key := time.Now(), alertKey{kind: kind}
	s.mu.Lock()
	defer s.release()
	s.alerts.renew(err != nil, key, Alert{Since: s.alerts.since(key, now), Text: errorText(err)})
}
