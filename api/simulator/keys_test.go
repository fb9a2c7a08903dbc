package simulator

import (
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
	return Key{Secret: api.NewSecret(name), Scopes: scopes}
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
		{"GET", "/control/state", "", TestHelpersWrite, 200},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			all := keyOf()
			others := keyOf(slices.DeleteFunc(Scopes(), func(s Scope) bool { return s == c.scope })...)
			inBubble(t, func(cfg *Config) { cfg.MoreKeys = []Key{all, keyOf(c.scope), others} }, func(a *account) {
				for _, able := range []Key{all, keyOf(c.scope)} {
					if r := a.as(able, c.method, c.path, c.body); r.status != c.status {
						a.Errorf("%v: %d, want %d: %s", able.Scopes, r.status, c.status, r.body)
					}
				}
				before := a.intents()
				r := a.as(others, c.method, c.path, c.body)
				body := a.want(http.StatusForbidden, r)
				closed(a, "403", body, []string{"name", "message"}, "stack")
				if body["name"] != "ForbiddenError" || body["message"] != "API key lacks scope "+string(c.scope) {
					a.Errorf("the body is %v", body)
				}
				if limits := exact(r.header, "RateLimit"); len(limits) != 1 && c.scope != TestHelpersWrite {
					a.Errorf("RateLimit is %v", limits)
				}
				if a.intents() != before {
					a.Errorf("%d intents, then %d", before, a.intents())
				}
			})
		})
	}
	t.Run("a refusal charges the bucket as any request", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.MoreKeys = []Key{keyOf(ProductsRead)} }, func(a *account) {
			later(time.Second)
			for range 10 {
				a.want(http.StatusForbidden, a.send("GET", "/api/v1/shipments", "", "Bearer "+keyOf(ProductsRead).Secret.Reveal()))
			}
			a.want(http.StatusTooManyRequests, a.burst("GET", "/api/v1/shipments", ""))
			if n := a.sim.Summary().Forbidden; n != 10 {
				a.Errorf("%d are counted as forbidden", n)
			}
		})
	})
}

func TestKeysThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		keys []Key
		want string
	}{
		"an unknown scope":   {[]Key{keyOf("orders:read")}, "a scope that does not exist; there are events:read, checkout_intents:read"},
		"an empty key":       {[]Key{{}}, "is empty, or the same as another"},
		"the main key again": {[]Key{{Secret: api.NewSecret(testKey)}}, "is empty, or the same as another"},
		"two keys alike":     {[]Key{keyOf(), keyOf()}, "is empty, or the same as another"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{Key: api.NewSecret(testKey), MoreKeys: c.keys})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), testKey) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}
