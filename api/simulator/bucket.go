package simulator

import (
	"fmt"
	"time"
)

const day = 24 * time.Hour

// bucket is a fixed window of requests. It is guarded by the simulator's lock.
type bucket struct {
	name   string // when each bucket is reported under its own name
	limit  int    // negative: none
	window time.Duration
	daily  bool // the window is the UTC day; else it begins with its first request
	start  time.Time
	used   int
	common string // the policy field under the common name
	own    string // and under the bucket's own
}

// roll begins a new window when the present one is over.
func (b *bucket) roll(now time.Time) {
	if b.daily {
		if today := now.UTC().Truncate(day); today.After(b.start) {
			b.start, b.used = today, 0
		}
		return
	}
	if now.Sub(b.start) >= b.window {
		b.start, b.used = now, 0
	}
}

func (b *bucket) full(now time.Time) bool {
	b.roll(now)
	return b.limit >= 0 && b.used >= b.limit
}

// take charges one request and reports whether the bucket had room.
func (b *bucket) take(now time.Time) bool {
	if b.full(now) {
		return false
	}
	b.used++
	return true
}

func (b *bucket) remaining() int { return max(0, b.limit-b.used) }

// reset is how many seconds remain in the window, rounded up.
func (b *bucket) reset(now time.Time) int {
	left := b.window - now.Sub(b.start)
	return int(max(1, (left+time.Second-1)/time.Second))
}

// buckets are the limits of the account (contract, Limits).
type buckets struct {
	mutations, reads, lookup, intents bucket
	agents                            bucket // used is not kept: it is the number of intents in placing_order
	name                              string
}

func newBuckets(l Limits, name string) buckets {
	b := buckets{
		mutations: bucket{name: "mutations", limit: l.Mutations, window: time.Second},
		reads:     bucket{name: "reads", limit: l.Reads, window: time.Second},
		lookup:    bucket{name: "product-lookup", limit: l.Lookup, window: time.Second},
		intents:   bucket{name: "checkout-intents", limit: l.PerDay, window: day, daily: true},
		agents:    bucket{name: "concurrent-agents", limit: l.Agents, window: time.Second},
		name:      name,
	}
	for _, each := range b.all() {
		policy := func(name string) string {
			return fmt.Sprintf(`"%s";q=%d;w=%d`, name, each.limit, int(each.window/time.Second))
		}
		each.common, each.own = policy(name), policy(each.name)
	}
	return b
}

func (b *buckets) all() []*bucket {
	return []*bucket{&b.mutations, &b.reads, &b.lookup, &b.intents, &b.agents}
}

func (b *buckets) named(name string) *bucket {
	for _, each := range b.all() {
		if each.name == name {
			return each
		}
	}
	return nil
}

// class is the kind of endpoint, which decides the buckets that it charges.
type class int

const (
	classReads class = iota
	classMutations
	classCreates // mutations, the daily bucket and the agents cap
	classLookup
)

// of is the per-second bucket of an endpoint class.
func (b *buckets) of(c class) *bucket {
	switch c {
	case classMutations, classCreates:
		return &b.mutations
	case classLookup:
		return &b.lookup
	}
	return &b.reads
}

// BucketSummary is a bucket at one moment. Limit is -1 when there is none.
type BucketSummary struct {
	Name      string `json:"name"`
	Limit     int    `json:"limit"`
	Remaining int    `json:"remaining"`
	Reset     int    `json:"resetSeconds"`
}

func (b *buckets) summary(now time.Time, placing int) []BucketSummary {
	var all []BucketSummary
	for _, each := range b.all() {
		each.roll(now)
		if each == &b.agents {
			each.used = placing
		}
		sum := BucketSummary{Name: each.name, Limit: max(each.limit, -1), Remaining: -1, Reset: each.reset(now)}
		if each.limit >= 0 {
			sum.Remaining = each.remaining()
		}
		all = append(all, sum)
	}
	return all
}

// quotaFields are the RateLimit field lines of one response (draft 8).
type quotaFields struct{ policies, limits []string }

func (f *quotaFields) add(b *bucket, name, policy string, remaining, reset int) {
	if b.limit < 0 {
		return
	}
	f.policies = append(f.policies, policy)
	f.limits = append(f.limits, fmt.Sprintf(`"%s";r=%d;t=%d`, name, remaining, reset))
}

// perSecond reports the bucket of an endpoint class: under the common name, or
// under its own when every bucket is to be reported.
func (b *buckets) perSecond(c class, now time.Time, every bool) quotaFields {
	second := b.of(c)
	return b.oneOf(second, every, second.remaining(), second.reset(now))
}

func (b *buckets) oneOf(second *bucket, every bool, remaining, reset int) quotaFields {
	var f quotaFields
	if every {
		f.add(second, second.name, second.own, remaining, reset)
	} else {
		f.add(second, b.name, second.common, remaining, reset)
	}
	return f
}

// perIntent adds the buckets that a new intent charges besides.
func (b *buckets) perIntent(f *quotaFields, now time.Time, placing int) {
	b.intents.roll(now)
	f.add(&b.intents, b.intents.name, b.intents.own, b.intents.remaining(), b.intents.reset(now))
	f.add(&b.agents, b.agents.name, b.agents.own, max(0, b.agents.limit-placing), 1)
}

// untouched reports the policy of an endpoint class to a caller that is not
// known: it learns nothing of what the account has left.
func (b *buckets) untouched(c class, every bool) quotaFields {
	second := b.of(c)
	return b.oneOf(second, every, second.limit, int(second.window/time.Second))
}
