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
	news     *news
	standing map[alertKey]Alert
	list     []Alert                // as they were listed last, in order. It is replaced, never changed
	keys     []alertKey             // of the list
	touched  map[alertKey]bool      // raised or cleared since
	empty    map[alertKey]time.Time // buckets of short windows, and since when nothing is left
}

func newAlertBook(n *news, cfg AlertConfig, window time.Duration, pace paces) alertBook {
	return alertBook{news: n, cfg: cfg, window: window, pace: pace, standing: map[alertKey]Alert{}, touched: map[alertKey]bool{}, empty: map[alertKey]time.Time{}}
}

func (b *alertBook) raise(key alertKey, a Alert) {
	b.standing[key] = a
	b.touch(key)
}

func (b *alertBook) clear(key alertKey) {
	delete(b.standing, key)
	b.touch(key)
}

// forget clears what stands of an intent that is no longer kept.
func (b *alertBook) forget(intent api.ID) {
	for _, kind := range intentAlerts() {
		b.judge(false, alertKey{kind: kind, intent: intent}, time.Time{}, nil)
	}
}

func (b *alertBook) touch(key alertKey) {
	b.touched[key] = true
	b.news.stamp()
	if len(b.touched) > 4096+2*len(b.list) { // nobody looks
		b.inOrder()
	}
}

// inOrder lists the alerts, the longest standing first. There may be very many, so
// those that have changed are merged into the list before.
func (b *alertBook) inOrder() []Alert {
	if len(b.touched) == 0 {
		return b.list
	}
	var raised []alertKey
	for key := range b.touched {
		if _, stands := b.standing[key]; stands {
			raised = append(raised, key)
		}
	}
	slices.SortFunc(raised, func(x, y alertKey) int { return compareAlerts(b.standing[x], b.standing[y]) })
	list, keys := make([]Alert, 0, len(b.standing)), make([]alertKey, 0, len(b.standing))
	add := func(key alertKey, a Alert) { list, keys = append(list, a), append(keys, key) }
	for i, key := range b.keys {
		if b.touched[key] {
			continue
		}
		for len(raised) > 0 && compareAlerts(b.standing[raised[0]], b.list[i]) < 0 {
			add(raised[0], b.standing[raised[0]])
			raised = raised[1:]
		}
		add(key, b.list[i])
	}
	for _, key := range raised {
		add(key, b.standing[key])
	}
	b.list, b.keys, b.touched = list, keys, map[alertKey]bool{}
	return list
}

func compareAlerts(a, b Alert) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Text, b.Text), a.Due.Compare(b.Due))
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
