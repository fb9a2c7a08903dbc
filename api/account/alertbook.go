package account

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
)

// alertKey makes an alert the same as long as it stands.
type alertKey struct {
	kind   AlertKind
	intent api.ID // when it is about one
	cause  string // tells alerts of one kind apart that are about no intent
}

// alertBook decides which alerts stand, and holds them.
type alertBook struct {
	cfg      AlertConfig
	window   time.Duration // in which an intent may be confirmed
	pace     paces         // of the account
	changed  bool          // since it was told last
	standing map[alertKey]Alert
	list     []Alert                // in order; nil once it no longer holds. It is replaced, never changed
	empty    map[alertKey]time.Time // buckets of short windows, and since when nothing is left
}

func newAlertBook(cfg AlertConfig, window time.Duration, pace paces) alertBook {
	return alertBook{cfg: cfg, window: window, pace: pace, standing: map[alertKey]Alert{}, empty: map[alertKey]time.Time{}}
}

func (b *alertBook) raise(key alertKey, a Alert) {
	b.standing[key], b.list, b.changed = a, nil, true
}

func (b *alertBook) clear(key alertKey) {
	delete(b.standing, key)
	b.list, b.changed = nil, true
}

// inOrder lists the alerts, the longest standing first.
func (b *alertBook) inOrder() []Alert {
	if b.list == nil && len(b.standing) > 0 {
		for _, a := range b.standing {
			b.list = append(b.list, a)
		}
		slices.SortFunc(b.list, func(a, b Alert) int {
			return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Text, b.Text), a.Due.Compare(b.Due))
		})
	}
	return b.list
}

// keepsEmpty reports whether a bucket was empty whenever time was told for a
// while.
func (b *alertBook) keepsEmpty(key alertKey, empty bool, now time.Time) bool {
	since, known := b.empty[key]
	switch {
	case !empty:
		delete(b.empty, key)
		return false
	case !known:
		b.empty[key] = now
		return false
	}
	return now.Sub(since) >= emptyFor
}
