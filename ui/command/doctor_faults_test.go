package command

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tillwatch/ui/doctor"
)

// doctorFault is a fault put into a healthy set-up, and the one finding it must cause.
type doctorFault struct {
	name    string
	put     func(*doctorCase)
	check   string
	words   string
	verdict doctor.Verdict // default: a fault
}

func doctorFaults() []doctorFault {
	return slices.Concat(faultsOfSettings(), faultsOfTheService(), faultsOfTheRelay(), faultsOfTheMachine())
}

func faultsOfSettings() []doctorFault {
	return []doctorFault{
		{name: "an unknown setting", put: func(c *doctorCase) { c.settings["relay_ulr"] = "x" }, check: "settings", words: "relay_ulr"},
		{name: "a profile that is not there", put: func(c *doctorCase) { c.args = []string{"--profile", "nope"} }, check: "settings", words: `no profile "nope"`},
		{name: "a setting out of bounds", put: func(c *doctorCase) { c.settings["poll_every"] = "45" }, check: "settings", words: "poll_every"},
		{name: "a theme that is not there", put: func(c *doctorCase) { c.settings["theme"] = "puce" }, check: "settings", words: "puce"},
		{name: "no key", put: func(c *doctorCase) { delete(c.settings, "api_key") }, check: "settings", words: "no API key"},
		{name: "a relay without a token", put: func(c *doctorCase) { delete(c.settings, "relay_token") }, check: "settings", words: "without its token"},
		{name: "a key file that is not there", put: func(c *doctorCase) {
			delete(c.settings, "api_key")
			c.settings["api_key_file"] = filepath.Join(c.dir, "none")
		}, check: "settings", words: "api_key_file"},
		{name: "a key file with a line break", put: func(c *doctorCase) { c.keyFile("key-of\n-the-test\n", 0o600) }, check: "settings", words: "line break"},
		{name: "a key file with quotes", put: func(c *doctorCase) { c.keyFile("\"key-of-the-test\"\n", 0o600) }, check: "secrets", words: "in quotes"},
		{name: "a path for a key", put: func(c *doctorCase) { c.settings["api_key"] = c.file("key", "x", 0o600) }, check: "secrets", words: "path of a file"},
		{name: "a short signing secret", put: func(c *doctorCase) { c.settings["signing_secret"] = "too-short" }, check: "signing", words: "9 bytes"},
		{name: "a key file that all can read", put: func(c *doctorCase) { c.keyFile("key-of-the-test\n", 0o644); c.reachable() }, check: "files", words: "every user"},
		{name: "a state folder below a file", put: func(c *doctorCase) { c.settings["state_dir"] = filepath.Join(c.file("plain", "", 0o600), "state") }, check: "state", words: "state folder"},
		{name: "a state folder that all can write", put: func(c *doctorCase) {
			c.reachable()
			if err := os.Chmod(c.settings["state_dir"], 0o777); err != nil {
				c.t.Fatal(err)
			}
		}, check: "state", words: "every user"},
	}
}

func faultsOfTheService() []doctorFault {
	const shipments, intents, events = "/api/v1/shipments", "/api/v1/checkout-intents", "/api/v1/events"
	header := func(change func(http.Header)) func(*doctorCase) {
		return func(c *doctorCase) { c.front("api_url", nil, change) }
	}
	answering := func(path string, status int, body string) func(*doctorCase) {
		return func(c *doctorCase) { c.front("api_url", says(path, status, body), nil) }
	}
	return []doctorFault{
		{name: "a wrong key", put: func(c *doctorCase) { c.settings["api_key"] = "another-key" }, check: "key", words: "refuses the API key"},
		{name: "a key that may read no shipments", put: func(c *doctorCase) {
			forbids := says("/api/v1/shipments", 403, `{"name":"ForbiddenError","message":"the key lacks a scope"}`)
			c.front("api_url", func(w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("RateLimit-Policy", `"default";q=10;w=1`)
				w.Header().Set("RateLimit", `"default";r=9;t=1`)
				return forbids(w, r)
			}, nil)
		}, check: "key", words: "may not read shipments", verdict: doctor.Warning},
		{name: "something before the service that lets nobody read", put: func(c *doctorCase) {
			c.front("api_url", says("/api/v1/shipments", 403, `{}`), nil)
		}, check: "key", words: "(403)"},
		{name: "a key that may read no events", put: func(c *doctorCase) { c.settings["api_key"] = "key-without-events" }, check: "key", words: "events:read", verdict: doctor.Warning},
		{name: "a clock ten minutes ahead", put: header(func(h http.Header) { h.Set("Date", time.Now().Add(-10*time.Minute).UTC().Format(http.TimeFormat)) }), check: "clock", words: " ahead of"},
		{name: "a clock a minute behind", put: header(func(h http.Header) { h.Set("Date", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)) }), check: "clock", words: "behind", verdict: doctor.Warning},
		{name: "a service that is away", put: func(c *doctorCase) { c.settings["api_url"] = "http://" + nowhere }, check: "service", words: "refused"},
		{name: "https where there is http", put: func(c *doctorCase) {
			c.settings["api_url"] = strings.Replace(c.settings["api_url"], "http", "https", 1)
		}, check: "service", words: "does not speak TLS"},
		{name: "another server", put: answering(shipments, 200, "<html>"), check: "service", words: "is not the service"},
		{name: "a service that fails", put: answering(shipments, 500, "{}"), check: "service", words: "500"},
		{name: "no RateLimit fields", put: header(func(h http.Header) { h.Del("RateLimit"); h.Del("RateLimit-Policy") }), check: "headers", words: "no RateLimit", verdict: doctor.Warning},
		{name: "a quota that is used up", put: header(func(h http.Header) {
			h.Set("RateLimit", `"default";r=0;t=3600`)
			h.Set("RateLimit-Policy", `"default";q=1000;w=86400`)
		}), check: "limits", words: "0 of 1,000 left for another 59m"},
		{name: "a quota of which the reserve is left", put: header(func(h http.Header) {
			h.Set("RateLimit", `"default";r=40;t=3600`)
			h.Set("RateLimit-Policy", `"default";q=5000;w=86400`)
		}), check: "limits", words: "40 of 5,000 left for another 59m", verdict: doctor.Warning},
		{name: "a read limit that no header names", put: header(func(h http.Header) {
			h.Set("RateLimit", `"default";r=0;t=3600`)
			h.Del("RateLimit-Policy")
		}), check: "limits", words: "0 of an unknown limit left for another 59m"},
		{name: "no lists and no relay", put: func(c *doctorCase) {
			c.front("api_url", says(intents, 404, "{}"), nil)
			delete(c.settings, "relay_url")
		}, check: "lists", words: "lists no intents"},
		{name: "events that stopped", put: answering(events, 200, fmt.Sprintf(
			`[{"id":"evt_ci_2_completed","object":"event","type":"checkout_intent.completed","createdAt":%q,"source":{"id":"ci_2","type":"checkout_intent"}}]`,
			time.Now().Add(-3*time.Minute).UTC().Format(time.RFC3339))), check: "events", words: "an event from 3m ago"},
		{name: "intents without events", put: func(c *doctorCase) {
			c.front("api_url", says(events, 404, "{}"), nil)
			c.front("api_url", says(intents, 200, fmt.Sprintf(`[{"id":"ci_2","state":"completed","createdAt":%q}]`, time.Now().Add(-4*time.Minute).UTC().Format(time.RFC3339))), nil)
		}, check: "events", words: "an intent past its offer from 4m ago"},
		{name: "an endpoint that is not registered", put: answering("/control/state", 200, `{"webhookEndpoints":[]}`),
			check: "endpoint", words: "does not know the relay"},
		{name: "a challenge that was not answered", put: endpointOfTheRelay(`"verified":false,"lastError":"connection refused"`),
			check: "endpoint", words: "challenge was not answered: connection refused"},
		{name: "deliveries that are given up", put: endpointOfTheRelay(`"verified":true,"delivered":1,"failures":1,"givenUp":2,"lastError":"503"`),
			check: "endpoint", words: "gives up most events (1 delivered, 1 attempt failed, 2 given up)"},
	}
}

// endpointOfTheRelay has the stand-in say something of its only endpoint, the relay.
func endpointOfTheRelay(what string) func(*doctorCase) {
	return func(c *doctorCase) {
		c.front("api_url", says("/control/state", 200, fmt.Sprintf(`{"webhookEndpoints":[{"url":%q,%s}]}`, c.settings["relay_url"]+"/webhooks", what)), nil)
	}
}

func faultsOfTheRelay() []doctorFault {
	answering := func(path string, status int, body string) func(*doctorCase) {
		return func(c *doctorCase) {
			c.front("relay_url", says(path, status, body), nil)
			c.front("api_url", nil, func(h http.Header) { h.Del("Tillwatch-Stand-In") }) // only a stand-in would know its endpoints
		}
	}
	counted := func(outcomes string) string {
		return `tillwatch_deliveries_total{outcome="challenge"} 0` + "\n" + outcomes
	}
	return []doctorFault{
		{name: "a relay that is away", put: func(c *doctorCase) { c.settings["relay_url"] = "http://" + nowhere }, check: "relay", words: "refused"},
		{name: "a relay that is none", put: answering("/readyz", 200, "<html>"), check: "relay", words: "is not a relay"},
		{name: "a path without a relay", put: func(c *doctorCase) { c.settings["relay_url"] += "/team" }, check: "relay", words: "is not a relay"},
		{name: "a relay that is not ready", put: answering("/readyz", 503, "the journal cannot be written\n"), check: "relay", words: "journal cannot be written"},
		{name: "https where the relay has none", put: func(c *doctorCase) {
			c.settings["relay_url"] = strings.Replace(c.settings["relay_url"], "http", "https", 1)
		}, check: "relay", words: "does not speak TLS"},
		{name: "a wrong token", put: func(c *doctorCase) { c.settings["relay_token"] = "another-token-of-16" }, check: "token", words: "does not accept the token"},
		{name: "the service where the relay should be", put: func(c *doctorCase) { c.settings["relay_url"] = c.settings["api_url"] }, check: "token", words: "it may not be a relay"},
		{name: "a token that may not stream", put: answering("/v1/stream", 403, `{}`), check: "stream", words: "forbids this token"},
		{name: "a stream that is refused", put: answering("/v1/stream", 502, `{}`), check: "stream", words: "502"},
		{name: "a wrong signing secret", put: answering("/metrics", 200, counted(`tillwatch_deliveries_total{outcome="unauthorized"} 7`)), check: "endpoint", words: "refused for their signature"},
		{name: "deliveries that are not stored", put: answering("/metrics", 200, counted(`tillwatch_deliveries_total{outcome="unavailable"} 7`)), check: "endpoint", words: "could not be stored"},
	}
}

func faultsOfTheMachine() []doctorFault {
	return []doctorFault{
		{name: "a full disk", put: func(c *doctorCase) { c.room, c.data = 1<<20, "" }, check: "disk", words: "1.0 MB free"},
		{name: "a disk that is nearly full", put: func(c *doctorCase) { c.room, c.data = 200<<20, "" }, check: "disk", words: "209.7 MB free", verdict: doctor.Warning},
		{name: "a journal that cannot be written", put: func(c *doctorCase) {
			c.data = c.t.TempDir()
			if err := os.Mkdir(filepath.Join(c.data, "journal.db"), 0o700); err != nil { // what root cannot write either
				c.t.Fatal(err)
			}
		}, check: "journal", words: "cannot be written"},
		{name: "damaged tokens", put: func(c *doctorCase) {
			c.data = c.t.TempDir()
			for _, name := range []string{"journal.db", "tokens.json"} {
				if err := os.WriteFile(filepath.Join(c.data, name), []byte("x"), 0o600); err != nil {
					c.t.Fatal(err)
				}
			}
		}, check: "journal", words: "tokens.json"},
		{name: "a database that is away", put: func(c *doctorCase) { c.settings["postgres"] = "postgres://u:secret-password@" + nowhere + "/d" }, check: "database", words: "does not answer"},
		{name: "a proxy that is down", put: func(c *doctorCase) { c.settings["proxy_listen"] = nowhere }, check: "proxy", words: "nothing answers"},
		{name: "the service where the proxy should be", put: func(c *doctorCase) {
			c.settings["proxy_listen"] = strings.TrimPrefix(c.settings["api_url"], "http://")
		}, check: "proxy", words: "is not tillwatch's proxy"},
		{name: "a proxy that passes nothing on", put: func(c *doctorCase) {
			c.proxyTo("http://" + nowhere)
		}, check: "proxy", words: "does not pass requests on"},
	}
}
