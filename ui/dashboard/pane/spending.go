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

// spending is who spends the quota: what the enlarged quota pane shows as charts
// and as a table with a cursor.
type spending struct {
	look     *Look
	buckets  []quota.Bucket // one at least for each class of the contract
	limits   []account.Limit
	since    time.Time // requests of observed spenders before may be missing
	spenders []account.Spender
	signs    []sign.Sign    // of each of them
	stack    []int          // their order in a chart, from the bottom up
	seen     map[string]int // those observed, as they became known
	span     account.Span
	chart    int // the first of those that are shown
	picked[spendRow]
	folded map[string]bool // by the names of spenders
	filter *Filter
	sums   [len(quotaClasses)]int // of all spenders, also of those that the filter hides
	sorting[spendRow]
}

// spendKey is the identity of a row: whose spending, and of which endpoint.
type spendKey struct {
	by       string
	endpoint string // "" for all
}

// name tells a row from all others.
func (k spendKey) name() string { return k.by + "\x00" + k.endpoint }

// spendRow is what one spender has spent in the span, of one endpoint or of all.
type spendRow struct {
	key      spendKey
	kind     account.SpenderKind
	of       string // whose it is, to be found by; "" where nobody saw the requests
	sign     sign.Sign
	total    account.Tally
	classes  [len(quotaClasses)]int // requests that charged each
	p50, p95 time.Duration          // of an endpoint's
	ends     int                    // how many endpoints there are
}

func newSpending(look *Look) spending {
	return spending{look: look, seen: map[string]int{}, folded: map[string]bool{}, picked: picked[spendRow]{name: func(r spendRow) string { return r.key.name() }}, sorting: by(spendOrders())}
}

// spendOrders are those of the spenders, and of the endpoints of each.
func spendOrders() []order[spendRow] {
	return []order[spendRow]{
		{"requests", true, func(a, b spendRow) int { return cmp.Compare(b.total.Requests, a.total.Requests) }},
		{"refused", true, func(a, b spendRow) int { return cmp.Compare(b.total.Refused, a.total.Refused) }},
		{"errors", true, func(a, b spendRow) int { return cmp.Compare(b.total.Errors, a.total.Errors) }},
		{"p95", true, func(a, b spendRow) int { return cmp.Compare(b.p95, a.p95) }},
		{"name", false, func(a, b spendRow) int { return cmp.Compare(a.key.by+a.key.endpoint, b.key.by+b.key.endpoint) }},
	}
}

// limit is what is known of a limit of the account; nil when nothing is.
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

// apply takes over what is known. A spender keeps the sign that it was given first.
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

// count makes the rows anew: each spender and, unless it is folded, what it did
// below it.
func (s *spending) count(unfolded bool) {
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
		if row.ends == 1 {
			row.p50, row.p95 = parts[name][0].p50, parts[name][0].p95
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
		if row.ends > 0 && row.of != "" && s.folded[row.key.by] != unfolded {
			slices.SortStableFunc(found, s.compare)
			s.rows = append(s.rows, found...)
		}
	}
}

// otherEndpoints are those that are not told apart.
const otherEndpoints = "other endpoints"

// use is the row of one use, and adds it to that of its spender.
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

// move moves the cursor, or folds what is under it.
func (s *spending) move(step Step, unfolded bool) {
	switch {
	case len(s.rows) == 0:
	case step == Left, step == Right:
		by := s.rows[s.cursor()].key.by
		s.folded[by] = (step == Left) == unfolded
		if step == Left {
			s.under = spendKey{by: by}.name()
		}
	default:
		s.put(s.cursor() + step.by(s.page, len(s.rows)))
	}
}

// samplesOf are what one bucket's headers told in the span.
func samplesOf(b *quota.Bucket, span account.Span) []quota.Sample {
	return [...][]quota.Sample{b.History, b.Hour, b.Day}[span]
}
