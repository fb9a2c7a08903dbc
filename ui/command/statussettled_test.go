package command

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// snapshotOf runs status --json against a service without a relay.
func snapshotOf(t *testing.T, service http.Handler, args ...string) (r snapshot, code int, said string, took time.Duration) {
	t.Helper()
	return snapshotUntil(t.Context(), t, service, args...)
}

// snapshotUntil is snapshotOf that is interrupted when ctx ends.
func snapshotUntil(ctx context.Context, t *testing.T, service http.Handler, args ...string) (r snapshot, code int, said string, took time.Duration) {
	t.Helper()
	server := httptest.NewServer(service)
	defer server.Close()
	config := configFile(t, "api_url", server.URL, "api_key", "key-of-the-test", "state_dir", t.TempDir())
	var out, words bytes.Buffer
	began := time.Now()
	code = run(ctx, append([]string{"status", "--json", "--config", config}, args...), nil, &out, &words)
	took = time.Since(began)
	reports := decodeReports(t, out.Bytes())
	if len(reports) != 1 {
		t.Fatalf("exit code %d, status says %q and %q", code, out.String(), words.String())
	}
	return reports[0], code, words.String(), took
}

func TestStatusIsSettledOnlyOnceTheWholeListWasRead(t *testing.T) {
	t.Parallel()
	service, err := simulator.New(simulator.Config{
		Key: api.NewSecret("key-of-the-test"), Seed: 3, History: 450, IntentsPerMinute: 0, ProductEventsPerMinute: -1,
		Lists: simulator.ListsServed, Limits: simulator.Limits{PerDay: 2000},
	})
	if err != nil {
		t.Fatal(err)
	}
	owned(t, func(ctx context.Context) error { return service.Run(ctx) })
	r, code, said, _ := snapshotOf(t, service.Handler(), "--wait", "30s")
	all := 0
	for _, n := range r.Intents {
		all += count(n)
	}
	if !r.Settled || all != 450 || len(r.Missing) != 0 || code != exitDone {
		t.Errorf("exit code %d (%s), settled: %v, %d of 450 intents, missing %+v", code, said, r.Settled, all, r.Missing)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	firstPage := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/checkout-intents" && r.URL.Query().Get("after") != "" {
			interrupt()
			<-r.Context().Done()
			return
		}
		service.Handler().ServeHTTP(w, r)
	})
	if r, code, _, _ := snapshotUntil(ctx, t, firstPage, "--wait", "30s"); r.Settled || code != exitDone || len(r.Missing) == 0 || r.Missing[0].What != "list" || r.Missing[0].Why == "" {
		t.Errorf("when it is cut short: exit code %d, settled: %v, missing %+v", code, r.Settled, r.Missing)
	}
}

func TestStatusSaysThatTheKeyMayNotReadShipments(t *testing.T) {
	t.Parallel()
	service, err := simulator.New(simulator.Config{
		Key: api.NewSecret("key-of-the-test"), Seed: 3, History: 20, IntentsPerMinute: 0, ProductEventsPerMinute: -1, Lists: simulator.ListsServed,
	})
	if err != nil {
		t.Fatal(err)
	}
	owned(t, func(ctx context.Context) error { return service.Run(ctx) })
	var asked atomic.Int32
	limited := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/shipments") {
			service.Handler().ServeHTTP(w, r)
			return
		}
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"name":"ForbiddenError","message":"API key lacks a scope"}`)
	})
	r, code, said, took := snapshotOf(t, limited, "--wait", "30s")
	if r.Summary.API.State != account.APIHealthy || code != exitDone || took > 10*time.Second || asked.Load() > 4 {
		t.Errorf("exit code %d after %v and %d reads of shipments (%s), the service is %s", code, took, asked.Load(), said, r.Summary.API.State)
	}
	if len(r.Missing) != 1 || !strings.Contains(r.Missing[0].Why, "the API key may not read shipments") || r.Shipments["delivered"] != nil || r.Intents["retrieving_offer"] == nil {
		t.Errorf("missing %+v, shipments %v, intents %v", r.Missing, r.Shipments, r.Intents)
	}
}

func TestStatusThatCouldReadNothingSaysSoAndFails(t *testing.T) {
	t.Parallel()
	always := func(status int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	cases := []struct {
		name    string
		service http.Handler
		waits   bool
		says    string
	}{
		{"every answer 429", always(429, `{"message":"Too many requests per second"}`), true, "429 too many requests"},
		{"200 and an HTML page", always(200, "<!DOCTYPE html><html><title>Sign in</title></html>"), true, "an HTML page instead of JSON"},
		{"200 and an empty object", always(200, "{}"), true, "neither an array nor an object"},
		{"every answer 500", always(500, `{"name":"RuntimeError","message":"internal error"}`), true, "500 internal server error"},
		{"a refused key", always(401, `{"name":"AuthenticationError","message":"no"}`), false, "TILLWATCH_API_KEY"},
		{"no list, no relay and no id", always(404, `{"name":"NotFoundError","message":"no"}`), false, "--relay-url"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var r snapshot
			var code int
			var said string
			var took, wait time.Duration
			for _, text := range everLonger() {
				if wait, _ = time.ParseDuration(text); !c.waits {
					wait = patience
				}
				if r, code, said, took = snapshotOf(t, c.service, "--wait", wait.String()); strings.Contains(said, c.says) {
					break
				}
			}
			if code != exitFailed || !strings.Contains(said, c.says) || strings.Count(strings.TrimSpace(said), "\n") > 0 {
				t.Errorf("exit code %d, says %q, want one line with %q", code, said, c.says)
			}
			if r.Settled || len(r.Missing) == 0 || r.Intents["completed"] != nil || r.Shipments["delivered"] != nil {
				t.Errorf("settled: %v, missing %+v, intents %v, shipments %v", r.Settled, r.Missing, r.Intents, r.Shipments)
			}
			if r.Summary.API.State == account.APIHealthy && c.waits {
				t.Errorf("the service is called %s", r.Summary.API.State)
			}
			if waited := took >= wait; waited != c.waits {
				t.Errorf("it took %v of --wait %v", took, wait)
			}
		})
	}
}

func TestStatusSaysWhyEachPartIsMissingAlsoWhereNothingWasAnswered(t *testing.T) {
	t.Parallel()
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	r, code, said, _ := snapshotOf(t, silent, "--wait", "300ms", "--watch-id", "ci_1")
	if code != exitFailed || r.Settled || len(r.Missing) == 0 || !strings.Contains(said, "takes longer than") {
		t.Errorf("exit code %d, settled: %v, missing %+v, says %q", code, r.Settled, r.Missing, said)
	}
	for _, m := range r.Missing {
		if m.Why == "" {
			t.Errorf("nothing says why %s is missing", m.What)
		}
	}
}

func TestStatusFailsWhereEveryReadIsRefused(t *testing.T) {
	t.Parallel()
	forbidden := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"name":"ForbiddenError","message":"the key lacks the scope checkout_intents:read"}`)
	})
	r, code, said, _ := snapshotOf(t, forbidden, "--wait", "30s", "--watch-id", "ci_1")
	if code != exitFailed || !strings.Contains(said, "lacks the scope") || r.Reads.Unreadable != 1 || count(r.Intents[notRead]) != 1 {
		t.Errorf("exit code %d, says %q, %+v, %d not read", code, said, r.Reads, count(r.Intents[notRead]))
	}
}

// TestStatusShowsWhatItGotBesideALongWindow has a service that counts reads in ten seconds and in a day.
func TestStatusShowsWhatItGotBesideALongWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		left    int
		lines   bool // a line for each policy
		status  int
		settled bool
		says    string
	}{
		{"much is left", 5000, false, 200, true, ""},
		{"much is left, in several lines", 5000, true, 200, true, ""},
		{"the reserve is left", 41, false, 200, false, `of "daily" only 40 of 5,000 are left, kept for checkouts`},
		{"the last one was for this", 1, false, 200, false, `"daily" is used up`},
		{"nothing was left", 0, false, 429, false, "429 too many requests"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int32
			service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				limits := []string{`"burst";r=9;t=1`, fmt.Sprintf(`"daily";r=%d;t=80000`, max(c.left-int(sent.Add(1)), 0))}
				policies := []string{`"burst";q=10;w=1`, `"daily";q=5000;w=86400`}
				if !c.lines {
					limits, policies = []string{strings.Join(limits, ", ")}, []string{strings.Join(policies, ", ")}
				}
				w.Header()["Ratelimit"], w.Header()["Ratelimit-Policy"] = limits, policies
				w.WriteHeader(c.status)
				fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false},"data":[]}`)
			})
			r, code, said, took := snapshotOf(t, service, "--wait", "60s")
			if (code == 0) != (c.status == 200) || took > 30*time.Second || r.Settled != c.settled || len(r.Quota) != 2 {
				t.Errorf("exit code %d, says %q, settled: %v, quota %+v", code, said, r.Settled, r.Quota)
			}
			if len(r.Missing) > 0 && !strings.Contains(r.Missing[0].Why, c.says) || len(r.Missing) == 0 && c.says != "" {
				t.Errorf("missing %+v, want %q", r.Missing, c.says)
			}
		})
	}
}
