package dashboard

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// spending adds who spent the quota, and what is known of the account's limits.
func (s *shop) spending() {
	tallies := func(span account.Span, n func(i int) int, refused func(i int) int) []account.Tally {
		var all []account.Tally
		for i := range span.Length() {
			if sent := n(i); sent > 0 {
				at := s.now.Truncate(span.Width()).Add(time.Duration(i-span.Length()+1) * span.Width())
				all = append(all, account.Tally{At: at, Requests: sent, Refused: min(refused(i), sent)})
			}
		}
		return all
	}
	use := func(class quota.Class, endpoint string, n func(i int) int, refused func(i int) int) account.Use {
		more := func(by int) func(int) int { return func(i int) int { return n(i) * by } }
		return account.Use{Class: class, Endpoint: endpoint, P50: 31 * time.Millisecond, P95: 140 * time.Millisecond,
			Series: account.Series[account.Tally]{Seconds: tallies(account.LastMinute, n, refused), Minutes: tallies(account.LastHour, more(31), refused), Hours: tallies(account.LastDay, more(900), refused)}}
	}
	never := func(int) int { return 0 }
	every := func(n, most int) func(int) int {
		return func(i int) int {
			if i%n != 0 {
				return 0
			}
			return 1 + i*7%most
		}
	}
	s.changes.Summary.Spenders = []account.Spender{
		{Kind: account.SpenderOwn, Purpose: quota.Person, Last: s.now, Uses: []account.Use{use(quota.Mutations, "POST /api/v1/checkout-intents/{id}/confirm", every(20, 1), never)}},
		{Kind: account.SpenderOwn, Purpose: quota.Hint, Last: s.now, Uses: []account.Use{use(quota.Reads, "GET /api/v1/checkout-intents/{id}", every(3, 2), never)}},
		{Kind: account.SpenderOwn, Purpose: quota.Timer},
		{Kind: account.SpenderOwn, Purpose: quota.Reconcile, Uses: []account.Use{use(quota.Reads, "GET /api/v1/shipments", every(15, 1), never)}},
		{Kind: account.SpenderObserved, Name: "checkout-worker", Last: s.now, Uses: []account.Use{
			use(quota.Mutations, "POST /api/v1/checkout-intents", every(6, 3), func(i int) int { return i % 12 / 11 }),
			use(quota.Reads, "GET /api/v1/checkout-intents/{id}", every(1, 5), func(i int) int { return i % 19 / 18 }),
			use(quota.Lookup, "GET /api/v1/products/lookup", every(5, 6), never)}},
		{Kind: account.SpenderObserved, Name: "report job", Last: s.now.Add(-time.Minute), Uses: []account.Use{use(quota.Reads, "GET /api/v1/shipments", every(4, 4), never)}},
		{Kind: account.SpenderRest, Uses: []account.Use{use(quota.Reads, "", every(7, 3), never)}},
	}
	levels := func(span account.Span, used func(i int) int) []account.Level {
		var all []account.Level
		for i := span.Length() / 6; i < span.Length(); i++ {
			all = append(all, account.Level{At: s.now.Truncate(span.Width()).Add(time.Duration(i-span.Length()+1) * span.Width()), Used: used(i)})
		}
		return all
	}
	told := func(n int) account.Figure { return account.Figure{N: n, Grounds: account.Told} }
	day := func(i int) int { return max(31-(23-i), 0) }
	agents := func(i int) int { return 2 + i*5%9 }
	s.changes.Summary.Limits = []account.Limit{
		{Name: account.LimitReads, Window: time.Second, Limit: told(10), Used: told(3), At: s.now},
		{Name: account.LimitMutations, Window: time.Second, Limit: told(5), Used: told(4), At: s.now},
		{Name: account.LimitLookup, Window: time.Second, Limit: account.Figure{N: 10, Grounds: account.Assumed}},
		{Name: account.LimitDay, Window: 24 * time.Hour, Limit: account.Figure{N: 50, Grounds: account.Assumed}, Used: account.Figure{N: 31, Grounds: account.Counted},
			At: s.now, Pace: 3.5, RunsOut: s.now.Add(19 * time.Hour * 10 / 35), Returns: s.now.Add(4 * time.Hour),
			Series: account.Series[account.Level]{Seconds: levels(account.LastMinute, func(int) int { return 31 }), Minutes: levels(account.LastHour, func(i int) int { return 28 + i/20 }), Hours: levels(account.LastDay, day)}},
		{Name: account.LimitAgents, Limit: account.Figure{N: 10, Grounds: account.Assumed}, Used: account.Figure{N: 4, Grounds: account.Counted}, At: s.now,
			Series: account.Series[account.Level]{Seconds: levels(account.LastMinute, agents), Minutes: levels(account.LastHour, agents), Hours: levels(account.LastDay, agents)}},
	}
}

// spentShop is an ordinary account whose spenders are seen.
func spentShop(now time.Time) *shop {
	s := typicalShop(now)
	s.spending()
	for i := range 6 {
		s.changes.Requests = append(s.changes.Requests, api.Exchange{By: "checkout-worker", Method: "GET", Path: "/api/v1/checkout-intents/{id}", Class: quota.Reads,
			Sent: s.now.Add(time.Duration(i-6) * 300 * time.Millisecond), Latency: 31 * time.Millisecond, Status: 200 + i/5*229})
	}
	return s
}
