package command

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tillwatch/api"
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
