package pane

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// spending is who spends the quota: the enlarged quota pane shows it as charts and as a
// table with a cursor.
type spending struct {
	look     *Look
	buckets  []quota.Bucket // at least one for each class of the contract
	limits   []account.Limit
	since    time.Time // earlier requests of observed spenders may be missing
	spenders []account.Spender
	signs    []sign.Sign    // of the spenders
	stack    []int          // their order in a chart, from the bottom up
	seen     map[string]int // numbers of the observed spenders, as they became known
	span     account.Span
	chart    int // the first shown chart
	picked[spendRow]
	filter *Filter
	sums   [len(quotaClasses)]int // of all spenders, hidden ones included
	sorting[spendRow]
}

// spendKey identifies a row: the spender and the endpoint.
type spendKey struct {
	by       string
	endpoint string // "": all
}

// name returns a unique name of a row.
func (k spendKey) name() string { return k.by + "\x00" + k.endpoint }

// spendRow is what one spender has spent in the span, on one endpoint or on all.
type spendRow struct {
	key      spendKey
	kind     account.SpenderKind
	of       string // the spender's name for a filter; "" if nobody saw the requests
	sign     sign.Sign
	total    account.Tally
	classes  [len(quotaClasses)]int // requests that charged each
	p50, p95 time.Duration          // latency of an endpoint; of several an upper bound
	ends     int                    // number of endpoints
}

func newSpending(look *Look) spending {
	return spending{look: look, seen: map[string]int{}, sorting: by(spendOrders()),
		picked: picked[spendRow]{name: func(r spendRow) string { return r.key.name() }}}
}

// spendOrders returns the orders of the spenders, and of the endpoints of each.
func spendOrders() []order[spendRow] {
	return []order[spendRow]{
		{"requests", true, func(a, b spendRow) int { return cmp.Compare(b.total.Requests, a.total.Requests) }},
		{"refused", true, func(a, b spendRow) int { return cmp.Compare(b.total.Refused, a.total.Refused) }},
		{"errors", true, func(a, b spendRow) int { return cmp.Compare(b.total.Errors, a.total.Errors) }},
		{"p95", true, func(a, b spendRow) int { return cmp.Compare(b.p95, a.p95) }},
		{"name", false, func(a, b spendRow) int { return cmp.Compare(a.key.by+a.key.endpoint, b.key.by+b.key.endpoint) }},
	}
}

// limit returns a limit of the account; nil if nothing is known about it.
func (s *spending) limit(name account.LimitName) *account.Limit {
	for i := range s.limits {
		if s.limits[i].Name == name {
			return &s.limits[i]
		}
	}
	return nil
}

// mostSeen bounds how many names are remembered for their signs.
const mostSeen = 100

// apply applies the summary. A spender keeps its sign until mostSeen names are exceeded.
func (s *spending) apply(sum *account.Summary, buckets []quota.Bucket) {
	s.limits, s.spenders, s.buckets, s.since = sum.Limits, sum.Spenders, buckets, sum.Feed.ObservedSince
	if len(s.seen) > mostSeen {
		clear(s.seen)
	}
	s.signs = make([]sign.Sign, len(s.spenders))
	place := make([]int, len(s.spenders)) // in a stack
	for i := range s.spenders {
		switch s.spenders[i].Kind {
		case account.SpenderOwn:
			s.signs[i] = sign.Own()
		case account.SpenderObserved:
			name := string(s.spenders[i].Name)
			if _, ok := s.seen[name]; !ok {
				s.seen[name] = len(s.seen)
			}
			place[i], s.signs[i] = 1+s.seen[name], sign.Observed(s.seen[name])
		case account.SpenderOthers:
			place[i], s.signs[i] = math.MaxInt-1, sign.Observed(math.MaxInt)
		default:
			place[i], s.signs[i] = math.MaxInt, sign.Rest()
		}
	}
	s.stack = s.stack[:0]
	for i := range s.spenders {
		s.stack = append(s.stack, i)
	}
	slices.SortStableFunc(s.stack, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
}

// count makes the rows: each spender and, if they are asked for, its endpoints below it.
func (s *spending) count(endpoints bool) {
	whole := make([]spendRow, 0, len(s.spenders))
	parts := map[string][]spendRow{}
	for i := range s.spenders {
		name := wording.Spender(&s.spenders[i])
		row := spendRow{key: spendKey{by: name}, kind: s.spenders[i].Kind, sign: s.signs[i]}
		if row.kind == account.SpenderOwn || row.kind == account.SpenderObserved {
			row.of = name
		}
		for j := range s.spenders[i].Uses {
			use := row.use(&s.spenders[i].Uses[j], s.span)
			if use.total.Requests > 0 {
				parts[name] = append(parts[name], use)
			}
		}
		row.ends = len(parts[name])
		for _, part := range parts[name] {
			row.p50, row.p95 = max(row.p50, part.p50), max(row.p95, part.p95)
		}
		whole = append(whole, row)
	}
	slices.SortStableFunc(whole, s.compare)
	s.rows, s.sums = s.rows[:0], [len(quotaClasses)]int{}
	for _, row := range whole {
		for class, n := range row.classes {
			s.sums[class] += n
		}
		shown, found := s.filtered(&row, parts[row.key.by])
		if !shown {
			continue
		}
		s.rows = append(s.rows, row)
		if row.ends > 0 && row.of != "" && endpoints {
			slices.SortStableFunc(found, s.compare)
			s.rows = append(s.rows, found...)
		}
	}
}

// otherEndpoints is the row of the endpoints without a row of their own.
const otherEndpoints = "other endpoints"

// use returns the row of one use, and adds it to the spender's row.
func (r *spendRow) use(u *account.Use, span account.Span) spendRow {
	row := spendRow{key: spendKey{r.key.by, u.Endpoint}, kind: r.kind, of: r.of, sign: r.sign, total: account.Total(u.Over(span)), p50: u.P50, p95: u.P95}
	if row.key.endpoint == "" {
		row.key.endpoint = otherEndpoints
	}
	if at := slices.Index(quotaClasses[:], u.Class); at >= 0 {
		row.classes[at] = row.total.Requests
		r.classes[at] += row.total.Requests
	}
	r.total.Requests += row.total.Requests
	r.total.Refused += row.total.Refused
	r.total.Errors += row.total.Errors
	return row
}

// move moves the cursor.
func (s *spending) move(step Step) {
	if len(s.rows) > 0 {
		s.put(s.cursor() + step.by(s.page, len(s.rows)))
	}
}

// samplesOf returns the samples of a bucket's headers in the span.
func samplesOf(b *quota.Bucket, span account.Span) []quota.Sample {
	return [...][]quota.Sample{b.History, b.Hour, b.Day}[span]
}
