package simulator

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

const day = 24 * time.Hour

// bucket is a limit with a fixed window. The simulator's lock guards it.
type bucket struct {
	name   string // for RateLimit fields, unless all share one name
	limit  int    // negative: no limit
	window time.Duration
	daily  bool // the window is the UTC day; otherwise it begins with its first request
	gauge  bool // used is a present count, whatever the window
	start  time.Time
	used   int
}

// roll begins a new window if the present one is over.
func (b *bucket) roll(now time.Time) {
	today := now.UTC().Truncate(day)
	switch {
	case b.gauge:
	case b.daily && today.After(b.start):
		b.start, b.used = today, 0
	case !b.daily && now.Sub(b.start).Abs() >= b.window: // the clock may have gone on after a stop
		b.start, b.used = now, 0
	}
}

func (b *bucket) full(now time.Time) bool {
	b.roll(now)
	return b.limit >= 0 && b.used >= b.limit
}

// take charges one request. It returns false if the bucket is full.
func (b *bucket) take(now time.Time) bool {
	if b.full(now) {
		return false
	}
	b.used++
	return true
}

func (b *bucket) remaining() int { return max(0, b.limit-b.used) }

// reset returns the remaining seconds of the window, rounded up.
func (b *bucket) reset(now time.Time) int {
	left := b.window - now.Sub(b.start)
	return int(max(1, (left+time.Second-1)/time.Second))
}

// buckets are the limits of the account (contract, Limits).
type buckets struct {
	mutations, reads, lookup, intents bucket
	agents                            bucket // intents in placing_order
	common                            string // the name under which all are reported; "": each has its own
}

func newBuckets(c Config) buckets {
	l := c.Limits
	b := buckets{
		mutations: bucket{name: "mutations", limit: l.Mutations, window: time.Second},
		reads:     bucket{name: "reads", limit: l.Reads, window: time.Second},
		lookup:    bucket{name: "product-lookup", limit: l.Lookup, window: time.Second},
		intents:   bucket{name: "checkout-intents", limit: l.PerDay, window: day, daily: true},
		agents:    bucket{name: "concurrent-agents", limit: l.Agents, window: time.Second, gauge: true},
	}
	if !c.EveryPolicy {
		b.common = "default"
	}
	return b
}

func (b *buckets) all() []*bucket {
	return []*bucket{&b.mutations, &b.reads, &b.lookup, &b.intents, &b.agents}
}

// class is the class of an endpoint, which decides the buckets that it charges.
type class int

const (
	classReads class = iota
	classMutations
	classCreates // mutations, the daily bucket and the agents cap
	classLookup
)

// of returns the per-second bucket of an endpoint class.
func (b *buckets) of(c class) *bucket {
	switch c {
	case classMutations, classCreates:
		return &b.mutations
	case classLookup:
		return &b.lookup
	}
	return &b.reads
}

// BucketSummary is a bucket at one moment. Limit is -1 if there is none.
type BucketSummary struct {
	Name      string `json:"name"`
	Limit     int    `json:"limit"`
	Remaining int    `json:"remaining"`
	Reset     int    `json:"resetSeconds"`
}

func (b *buckets) summary(now time.Time) []BucketSummary {
	var all []BucketSummary
	for _, each := range b.all() {
		each.roll(now)
		sum := BucketSummary{Name: each.name, Limit: max(each.limit, -1), Remaining: -1, Reset: each.reset(now)}
		if each.limit >= 0 {
			sum.Remaining = each.remaining()
		}
		all = append(all, sum)
	}
	return all
}

// quotaFields are the RateLimit field lines of one answer (draft 8).
type quotaFields struct{ policies, limits []string }

// report adds the lines of a bucket.
func (b *buckets) report(f *quotaFields, each *bucket, remaining, reset int) {
	if each.limit < 0 {
		return
	}
	name := cmp.Or(b.common, each.name)
	f.policies = append(f.policies, fmt.Sprintf(`"%s";q=%d;w=%d`, name, each.limit, int(each.window/time.Second)))
	f.limits = append(f.limits, fmt.Sprintf(`"%s";r=%d;t=%d`, name, remaining, reset))
}

// perSecond reports the bucket of an endpoint class.
func (b *buckets) perSecond(c class, now time.Time) (f quotaFields) {
	second := b.of(c)
	b.report(&f, second, second.remaining(), second.reset(now))
	return f
}

// perIntent adds the other buckets that a new intent charges.
func (b *buckets) perIntent(f *quotaFields, now time.Time) {
	b.intents.roll(now)
	b.report(f, &b.intents, b.intents.remaining(), b.intents.reset(now))
	b.report(f, &b.agents, b.agents.remaining(), b.agents.reset(now))
}

// untouched reports the policy of an endpoint class to an unknown caller, as if nothing was spent: it does not learn
// what the account has left.
func (b *buckets) untouched(c class) (f quotaFields) {
	second := b.of(c)
	b.report(&f, second, second.limit, int(second.window/time.Second))
	return f
}

// setBucket sets the limit of a bucket and what it has left.
func (c controlAPI) setBucket(r *request) answer {
	var o struct {
		Limit     *int `json:"limit"`     // -1: none
		Remaining *int `json:"remaining"` // in its present window
	}
	if refusal := readControl(r, &o); refusal != nil {
		return *refusal
	}
	all, now := c.sim.buckets.all(), c.sim.agenda.now()
	i := slices.IndexFunc(all, func(b *bucket) bool { return b.name == r.PathValue("name") })
	if i < 0 {
		return notFound("There is no such bucket; there are mutations, reads, product-lookup, checkout-intents and " +
			"concurrent-agents")
	}
	b := all[i]
	changed := *b
	if o.Limit != nil {
		changed.limit = *o.Limit
	}
	switch {
	case changed.limit < -1 || changed.limit > math.MaxInt32:
		return invalidField("body.limit", "must be from 0 to 2147483647, or -1 for none")
	case o.Remaining != nil && b.gauge:
		return invalidField("body.remaining", "cannot be set: the agents at work are counted")
	case o.Remaining != nil && changed.limit < 0:
		return invalidField("body.remaining", "cannot be set: there is no limit")
	case o.Remaining != nil && (*o.Remaining < 0 || *o.Remaining > changed.limit):
		return invalidField("body.remaining", fmt.Sprintf("must be from 0 to %d", changed.limit))
	}
	if o.Remaining != nil {
		changed.roll(now)
		changed.used = changed.limit - *o.Remaining
	}
	*b = changed
	for f := &c.sim.fulfilment; len(f.queued) > 0 && !f.buckets.agents.full(now); {
		f.placeQueued(now)
	}
	return ok(c.sim.buckets.summary(now))
}
