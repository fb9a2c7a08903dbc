package main

import (
	"fmt"
	"net/http"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay"
)

// observed reports a number of requests a second to the relay until the account is closed, as a proxy before three
// programs would.
func (a *account) observed(rate int) error {
	reporter, err := relay.NewReporter(relay.ReporterConfig{URL: a.endpoint.relay, Token: api.NewSecret(relayToken)})
	if err != nil {
		return err
	}
	a.tasks.Go(func() { reporter.Run(a.ctx) })
	a.tasks.Go(func() {
		n := 0
		paced(a.ctx, rate, func(due int) error {
			for range due {
				reporter.Observe([]quota.Observation{a.request(n)})
				n++
			}
			return nil
		})
	})
	return nil
}

// request is the nth observed request: of twenty, one creates an intent, one is a lookup, and one read is refused.
func (a *account) request(n int) quota.Observation {
	o := quota.Observation{
		ID: fmt.Sprintf("request-%d", n), Sent: time.Now(), Latency: time.Duration(5+n%40) * time.Millisecond,
		Method: http.MethodGet, Endpoint: "/api/v1/checkout-intents/{id}", Class: quota.Reads, Status: http.StatusOK,
		Spender: [...]string{"shop/2.1", "orders-cron", "support"}[n%3], Key: fmt.Sprintf("%016x", n%3),
	}
	limit := int64(60)
	switch n % 20 {
	case 0:
		o.Method, o.Endpoint, o.Class, o.Status, limit = http.MethodPost, "/api/v1/checkout-intents", quota.Mutations, http.StatusCreated, 5
	case 7:
		o.Endpoint, o.Class, limit = quota.DefaultLookupPath, quota.Lookup, 10
	case 13:
		o.Status = http.StatusTooManyRequests
	default:
		o.IntentID, o.State = intentID(n%a.intents), string(api.Completed)
	}
	o.Reports = []quota.Report{{
		Policy: "default", Limit: limit, Window: time.Second, PolicyKnown: true,
		Remaining: limit - 1 - int64(n)%limit, Reset: time.Second, RemainingKnown: true, ResetKnown: true,
	}}
	return o
}
