package simulator

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// keyOf is a key with some scopes, under a secret of the scopes' names.
func keyOf(scopes ...Scope) Key {
	name := "key"
	for _, scope := range scopes {
		name += "-" + string(scope)
	}
	return Key{Name: name, Secret: api.NewSecret(name), Scopes: scopes}
}

// as makes a request in a fresh second with another key.
func (a *account) as(k Key, method, path, body string) response {
	a.Helper()
	later(time.Second)
	return a.send(method, path, body, "Bearer "+k.Secret.Reveal())
}

func TestScopes(t *testing.T) {
	lookup := "/api/v1/products/lookup?url=" + url.QueryEscape(chiliCrisp)
	for _, c := range []struct {
		method, path, body string
		scope              Scope
		status             int // of a key that has it
	}{
		{"GET", "/api/v1/events/evt_x", "", EventsRead, 404},
		{"GET", "/api/v1/events", "", EventsRead, 404},
		{"GET", "/api/v1/checkout-intents", "", IntentsRead, 404},
		{"GET", "/api/v1/checkout-intents/ci_x", "", IntentsRead, 404},
		{"GET", "/api/v1/checkout-intents/ci_x/shipments", "", IntentsRead, 404},
		{"GET", "/api/v1/shipments", "", IntentsRead, 200},
		{"GET", "/api/v1/shipments/shp_x", "", IntentsRead, 404},
		{"POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp), IntentsWrite, 201},
		{"POST", "/api/v1/checkout-intents/purchase", orderJSON(chiliCrisp, drawdown), IntentsWrite, 201},
		{"POST", "/api/v1/checkout-intents/ci_x/confirm", "{" + drawdown + "}", IntentsWrite, 404},
		{"GET", lookup, "", ProductsRead, 200},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			all := keyOf()
			others := keyOf(slices.DeleteFunc(Scopes(), func(s Scope) bool { return s == c.scope })...)
			eachDriver(t, func(cfg *Config) { cfg.MoreKeys = []Key{all, keyOf(c.scope), others} }, func(a *account) {
				for _, able := range []Key{all, keyOf(c.scope)} {
					if r := a.as(able, c.method, c.path, c.body); r.status != c.status {
						a.Errorf("%s: %d, want %d: %s", able.Name, r.status, c.status, r.body)
					}
				}
				before := a.intents()
				r := a.as(others, c.method, c.path, c.body)
				body := a.want(http.StatusForbidden, r)
				closed(a, "403", body, []string{"name", "message"}, "stack")
				if body["name"] != "ForbiddenError" || body["message"] != "API key lacks scope "+string(c.scope) {
					a.Errorf("the body is %v", body)
				}
				if limits := exact(r.header, "RateLimit"); len(limits) != 1 || len(exact(r.header, "RateLimit-Policy")) != 1 {
					a.Errorf("RateLimit is %v", limits)
				}
				if a.intents() != before || a.sim.Summary().Forbidden != 1 {
					a.Errorf("%d intents, then %d; %d were forbidden", before, a.intents(), a.sim.Summary().Forbidden)
				}
			})
		})
	}
	plainRows{
		"a path that nobody knows needs none": func(a *account) {
			a.want(http.StatusNotFound, a.off("GET", "/api/v1/orders", ""))
		},
	}.run(t)
	t.Run("the control API needs test_helpers:write", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.MoreKeys = []Key{keyOf(EventsRead), keyOf(TestHelpersWrite)} }, func(a *account) {
			a.want(http.StatusForbidden, a.as(keyOf(EventsRead), "GET", "/control/state", ""))
			a.want(http.StatusOK, a.as(keyOf(TestHelpersWrite), "GET", "/control/state", ""))
		})
	})
	t.Run("a refusal charges the bucket as any request", func(t *testing.T) {
		eachDriver(t, func(c *Config) { c.MoreKeys = []Key{keyOf(ProductsRead)} }, func(a *account) {
			later(time.Second)
			for range 10 {
				a.want(http.StatusForbidden, a.send("GET", "/api/v1/shipments", "", "Bearer "+keyOf(ProductsRead).Secret.Reveal()))
			}
			a.want(http.StatusTooManyRequests, a.burst("GET", "/api/v1/shipments", ""))
		})
	})
	t.Run("it is told once which key lacks what", func(t *testing.T) {
		toldInBubble(t, func(c *Config) { c.MoreKeys = []Key{keyOf(ProductsRead)} }, nil, func(a *account, w *told) {
			for range 5 {
				a.as(keyOf(ProductsRead), "GET", "/api/v1/shipments", "")
				a.as(keyOf(ProductsRead), "GET", "/api/v1/events/x", "")
			}
			if got := w.lines("a key without the scope is refused"); len(got) != 2 || !strings.Contains(got[0], "key=key-products:read") || !strings.Contains(got[0], "scope=checkout_intents:read") {
				t.Errorf("got %q", got)
			}
		})
	})
}

func TestEnvironments(t *testing.T) {
	const stagingKey, productionKey = "shop/staging-00112233", "shop/production-44556677"
	keys := []Key{
		{Name: "by prefix", Secret: api.NewSecret(productionKey)},
		{Name: "by name", Secret: api.NewSecret("of-the-other"), Environment: Production},
		{Name: "of staging", Secret: api.NewSecret(stagingKey)},
	}
	own := map[Environment][]string{Staging: {stagingKey, "main-key"}, Production: {productionKey, "of-the-other", "main-key"}}
	for environment, accepted := range own {
		t.Run(string(environment), func(t *testing.T) {
			for name, d := range drivers() {
				t.Run(name, func(t *testing.T) {
					w := &told{}
					inBubbleBy(t, d, func(c *Config) {
						c.Key, c.MoreKeys, c.Environment = api.NewSecret("main-key"), keys, environment
						c.Logger = slog.New(slog.NewTextHandler(w, nil))
					}, func(a *account) {
						for _, key := range []string{"main-key", stagingKey, productionKey, "of-the-other"} {
							later(time.Second)
							r := a.send("GET", "/api/v1/shipments", "", "Bearer "+key)
							if slices.Contains(accepted, key) {
								a.want(http.StatusOK, r)
								continue
							}
							body := a.want(http.StatusUnauthorized, r)
							closed(a, key, body, []string{"name", "message"}, "stack")
							if body["message"] != "Invalid API key" {
								a.Errorf("the message is %v", body["message"])
							}
							a.want(http.StatusUnauthorized, a.wire("GET", "/control/state", "", "Bearer "+key))
						}
					})
					got := w.lines("a key of the other environment is refused")
					if len(got) != 4-len(accepted) {
						t.Errorf("got %q", got)
					}
					for _, line := range got {
						for _, secret := range []string{stagingKey, productionKey, "of-the-other"} {
							if strings.Contains(line, secret) {
								t.Errorf("the log holds a key: %s", line)
							}
						}
					}
				})
			}
		})
	}
}

func TestKeysThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"an unknown environment":         {func(c *Config) { c.Environment = "sandbox" }, `the environment is "sandbox"; it is staging or production`},
		"a key of the other environment": {func(c *Config) { c.Environment = Production }, "the API key is one of staging, as its prefix says, and this is production"},
		"an unknown scope":               {func(c *Config) { c.MoreKeys = []Key{keyOf("orders:read")} }, `has the scope "orders:read"; there are events:read, checkout_intents:read`},
		"an empty key":                   {func(c *Config) { c.MoreKeys = []Key{{Name: "ci"}} }, `key "ci" is empty`},
		"the main key again":             {func(c *Config) { c.MoreKeys = []Key{{Name: "ci", Secret: c.Key}} }, `key "ci" is the same as the API key`},
		"two keys alike":                 {func(c *Config) { c.MoreKeys = []Key{keyOf(), keyOf()} }, `key "key" is the same as key "key"`},
		"a key's unknown environment":    {func(c *Config) { c.MoreKeys = []Key{{Name: "ci", Secret: api.NewSecret("x"), Environment: "live"}} }, `of key "ci" is "live"`},
		"a prefix against an environment": {func(c *Config) {
			c.MoreKeys = []Key{{Name: "ci", Secret: api.NewSecret("a/staging-1"), Environment: Production}}
		}, `key "ci" is one of staging`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Key: api.NewSecret(testKey)}
			c.change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), testKey) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}
