package simulator

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// reports asserts the RateLimit fields of an answer, in their exact case.
func reports(t testing.TB, what string, r response, policies, limits string) {
	t.Helper()
	if got := strings.Join(exact(r.header, "RateLimit-Policy"), " | "); got != policies {
		t.Errorf("%s: RateLimit-Policy is %s, want %s", what, got, policies)
	}
	if got := strings.Join(exact(r.header, "RateLimit"), " | "); got != limits {
		t.Errorf("%s: RateLimit is %s, want %s", what, got, limits)
	}
}

// refusedOrder is an order that is charged to mutations and creates nothing.
func refusedOrder() string { return orderJSON("not a url") }

const perSecond = "Too many requests per second"

func TestLimitsOfEachBucket(t *testing.T) {
	rows{
		"mutations: 5 a second": func(a *account) {
			later(time.Second)
			for i := range 5 {
				r := a.burst("POST", "/api/v1/checkout-intents", refusedOrder())
				a.want(422, r)
				reports(a, "in the second", r, `"default";q=5;w=1`, fmt.Sprintf(`"default";r=%d;t=1`, 4-i))
			}
			r := a.burst("POST", "/api/v1/checkout-intents/ci_x/confirm", "{}")
			body := a.want(http.StatusTooManyRequests, r)
			closed(a, "429", body, []string{"message"})
			reports(a, "at the limit", r, `"default";q=5;w=1`, `"default";r=0;t=1`)
			if body["message"] != perSecond || r.header.Get("Retry-After") != "1" {
				a.Errorf("message %q, Retry-After %q", body["message"], r.header.Get("Retry-After"))
			}
			a.want(http.StatusNotFound, a.call("POST", "/api/v1/checkout-intents/ci_x/confirm", "{}"))
		},
		"reads: 10 a second": func(a *account) {
			later(time.Second)
			for _, path := range []string{"events/x", "shipments", "shipments/x", "checkout-intents/x", "checkout-intents/x/shipments", "events", "checkout-intents", "shipments?limit=102", "shipments?limit=101", "events/y"} {
				if r := a.burst("GET", "/api/v1/"+path, ""); r.status == http.StatusTooManyRequests {
					a.Fatalf("%s: 429", path)
				}
			}
			r := a.burst("GET", "/api/v1/events/x", "")
			a.want(http.StatusTooManyRequests, r)
			reports(a, "at the limit", r, `"default";q=10;w=1`, `"default";r=0;t=1`)
			a.want(http.StatusOK, a.burst("GET", "/api/v1/products/lookup?url="+url.QueryEscape(chiliCrisp), ""))
			a.want(422, a.burst("POST", "/api/v1/checkout-intents", refusedOrder()))
		},
		"product lookup: 10 a second, in its own bucket": func(a *account) {
			later(time.Second)
			for range 10 {
				a.want(422, a.burst("GET", "/api/v1/products/lookup?url=", ""))
			}
			r := a.burst("GET", "/api/v1/products/lookup?url=", "")
			a.want(http.StatusTooManyRequests, r)
			reports(a, "at the limit", r, `"default";q=10;w=1`, `"default";r=0;t=1`)
			a.want(http.StatusOK, a.burst("GET", "/api/v1/shipments", ""))
		},
		"checkout intents: 50 a day, over create and purchase": func(a *account) {
			for i := range 50 {
				path := "/api/v1/checkout-intents"
				if i%2 == 0 {
					path += "/purchase"
				}
				a.want(http.StatusCreated, a.call("POST", path, orderJSON(magicURL("sold-out"), drawdown)))
			}
			for _, path := range []string{"/api/v1/checkout-intents", "/api/v1/checkout-intents/purchase"} {
				r := a.call("POST", path, orderJSON(chiliCrisp, drawdown))
				body := a.want(http.StatusTooManyRequests, r)
				closed(a, "429", body, []string{"message"})
				reports(a, "daily", r, `"default";q=5;w=1`, `"default";r=4;t=1`)
				if body["message"] != "You have reached the limit of 50 checkout intents per day" || r.header.Get("Retry-After") != "" {
					a.Errorf("message %q, Retry-After %q", body["message"], r.header.Get("Retry-After"))
				}
			}
			later(24 * time.Hour)
			a.create(chiliCrisp)
		},
		"checkout intents: what was refused is not counted": func(a *account) {
			for range 60 {
				a.want(422, a.call("POST", "/api/v1/checkout-intents", refusedOrder()))
			}
			a.create(chiliCrisp)
		},
		"concurrent agents: 10, then new intents are rejected and confirms are not": func(a *account) {
			waiting := a.create(chiliCrisp, drawdown)
			later(10 * time.Second)
			for range 10 {
				a.given(fmt.Sprintf(`{"state":"placing_order","placingAfter":%d}`, time.Minute))
			}
			for _, path := range []string{"/api/v1/checkout-intents", "/api/v1/checkout-intents/purchase"} {
				r := a.call("POST", path, orderJSON(chiliCrisp, drawdown))
				body := a.want(http.StatusTooManyRequests, r)
				if body["message"] != "You have reached the limit of 10 running agents" || r.header.Get("Retry-After") != "" {
					a.Errorf("message %q, Retry-After %q", body["message"], r.header.Get("Retry-After"))
				}
			}
			if in := a.confirm(waiting); in["state"] != "placing_order" {
				a.Errorf("the confirmed intent is %v", in["state"])
			}
			later(time.Minute)
			a.create(chiliCrisp)
		},
	}.run(t)
}

func TestEveryAnswerCarriesTheRateLimitFields(t *testing.T) {
	rows{
		"401, which charges nothing": func(a *account) {
			later(time.Second)
			for range 20 {
				r := a.send("GET", "/api/v1/shipments", "", "Bearer wrong")
				a.want(http.StatusUnauthorized, r)
				reports(a, "401", r, `"default";q=10;w=1`, `"default";r=10;t=1`)
			}
			r := a.burst("GET", "/api/v1/shipments", "")
			reports(a, "the account's first", r, `"default";q=10;w=1`, `"default";r=9;t=1`)
		},
		"201, 404 and 500": func(a *account) {
			reports(a, "201", a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)), `"default";q=5;w=1`, `"default";r=4;t=1`)
			reports(a, "404", a.call("GET", "/api/v1/events/x", ""), `"default";q=10;w=1`, `"default";r=9;t=1`)
			a.call("POST", "/control/faults", "{}")
			reports(a, "500", a.call("GET", "/api/v1/events/x", ""), `"default";q=10;w=1`, `"default";r=9;t=1`)
		},
	}.run(t)
	rows{
		"404 of an unknown path": func(a *account) {
			reports(a, "GET", a.call("GET", "/nothing", ""), `"default";q=10;w=1`, `"default";r=9;t=1`)
			reports(a, "DELETE", a.call("DELETE", "/nothing", ""), `"default";q=5;w=1`, `"default";r=4;t=1`)
		},
	}.run(t)
	t.Run("each charged bucket under its own name, behind a switch", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.EveryPolicy = true }, func(a *account) {
			later(time.Second)
			reports(a, "create", a.burst("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)),
				`"mutations";q=5;w=1 | "checkout-intents";q=50;w=86400 | "concurrent-agents";q=10;w=1`,
				`"mutations";r=4;t=1 | "checkout-intents";r=49;t=86399 | "concurrent-agents";r=10;t=1`)
			for range 4 {
				a.burst("POST", "/api/v1/checkout-intents", refusedOrder())
			}
			reports(a, "429", a.burst("POST", "/api/v1/checkout-intents", refusedOrder()), `"mutations";q=5;w=1`, `"mutations";r=0;t=1`)
			reports(a, "read", a.burst("GET", "/api/v1/shipments", ""), `"reads";q=10;w=1`, `"reads";r=9;t=1`)
			reports(a, "401", a.send("GET", "/api/v1/shipments", "", "Bearer wrong"), `"reads";q=10;w=1`, `"reads";r=10;t=1`)
		})
	})
	t.Run("none without limits", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Limits = Unlimited() }, func(a *account) {
			later(time.Second)
			for range 100 {
				r := a.burst("GET", "/api/v1/shipments", "")
				a.want(http.StatusOK, r)
				reports(a, "unlimited", r, "", "")
			}
		})
	})
}

func TestTheShopSpendsTheSameBuckets(t *testing.T) {
	inBubble(t, func(c *Config) { c.IntentsPerMinute, c.Limits.PerDay = 240, 40 }, func(a *account) {
		reads := 0
		for range 300 {
			later(time.Second)
			r := a.burst("GET", "/api/v1/shipments?limit=1", "")
			left := 0
			if _, err := fmt.Sscanf(exact(r.header, "RateLimit")[0], `"default";r=%d;t=1`, &left); err != nil {
				a.Fatal(err)
			}
			reads += 9 - left
		}
		if reads == 0 {
			a.Error("others never read")
		}
		sum := a.summary()
		total := 0
		for _, n := range sum.Intents {
			total += n
		}
		if total != 40 {
			a.Errorf("the shop created %d intents, want the daily 40", total)
		}
	})
}
