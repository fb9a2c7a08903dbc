package account

import (
	"cmp"
	"strings"
	"time"

	"tillwatch/api"
)

// judgeIntent raises and clears the alerts of one intent; at most one stands.
func (b *alerts) judgeIntent(in *IntentDetail, now time.Time) {
	stands := b.alertOf(in, now)
	for _, kind := range intentAlerts() {
		key := alertKey{kind: kind, intent: in.ID}
		switch {
		case kind != stands:
			b.renew(false, key, Alert{})
		case kind == AlertExpiring:
			text, due := " expires unless it is confirmed", b.clock.here(in.ExpiresAt)
			if !due.After(now) {
				text, due = ": its confirm window has closed", time.Time{}
			}
			b.renew(true, key, Alert{Text: nameOf(in) + text, Since: b.since(key, now), Due: due})
		case kind == AlertAwaiting:
			b.judgeWait(key, in, now, "awaiting confirmation", b.cfg.AwaitingAfter)
		case kind == AlertStuck:
			b.judgeWait(key, in, now, "placing", b.stuckAfter())
		case kind == AlertFailed:
			b.renew(true, key, Alert{Text: failureWords(in), Since: b.since(key, now)})
		}
	}
}

// judgeWait raises an alert of an intent that waits too long. While it stands it follows the intent's name, and keeps
// the limit, which may change with the account's pace.
func (b *alerts) judgeWait(key alertKey, in *IntentDetail, now time.Time, doing string, limit time.Duration) {
	name := nameOf(in) + " has been "
	if !strings.HasPrefix(b.standing[key].Text, name) {
		b.renew(true, key, Alert{Text: name + doing + " for more than " + api.Span(limit), Since: b.since(key, now)})
	}
}

// forget clears the alert of an intent that is no longer kept.
func (b *alerts) forget(intent api.ID) {
	for _, kind := range intentAlerts() {
		b.renew(false, alertKey{kind: kind, intent: intent}, Alert{})
	}
}

// intentAlerts lists the kinds of alerts that concern one intent.
func intentAlerts() []AlertKind {
	return []AlertKind{AlertExpiring, AlertAwaiting, AlertStuck, AlertFailed}
}

// alertOf returns the alert that should stand for an intent; "" for none.
func (b *alerts) alertOf(in *IntentDetail, now time.Time) AlertKind {
	c := &b.cfg
	switch {
	case in.Missing:
	case in.State == api.AwaitingConfirmation && c.ExpiringWithin > 0 && !in.ExpiresAt.IsZero() && b.clock.here(in.ExpiresAt).Sub(now) <= c.ExpiringWithin:
		return AlertExpiring
	case in.State == api.AwaitingConfirmation && c.AwaitingAfter > 0 && now.Sub(in.Since) > c.AwaitingAfter:
		return AlertAwaiting
	case in.State == api.PlacingOrder:
		if limit := b.stuckAfter(); limit > 0 && now.Sub(in.Since) > limit {
			return AlertStuck
		}
	case b.justFailed(in, now):
		return AlertFailed
	}
	return ""
}

// justFailed reports whether an intent failed a short while ago. If it was created long before, that is only known
// if the moment of its failure is.
func (b *alerts) justFailed(in *IntentDetail, now time.Time) bool {
	if in.State != api.Failed {
		return false
	}
	lasts := b.cfg.FailedFor
	return now.Sub(in.Since) < lasts && (in.CreatedAt.IsZero() || in.Since.Sub(in.CreatedAt) < b.window+lasts)
}

func failureWords(in *IntentDetail) string {
	if failure := in.Failure; failure != nil && failure.Code != "" {
		return nameOf(in) + " failed: " + failure.Code.Words()
	}
	return nameOf(in) + " failed"
}

// stuckAfter is how long an intent may be placing before it counts as stuck; 0 or less: for ever.
func (b *alerts) stuckAfter() time.Duration {
	c := &b.cfg
	if usual := b.pace.usual(api.PlacingOrder); usual > 0 && c.StuckFactor > 0 && c.StuckAfter > 0 {
		return time.Duration(c.StuckFactor * float64(usual))
	}
	return c.StuckAfter
}

func nameOf(in *IntentDetail) string { return cmp.Or(string(in.Product), string(in.ID)) }
