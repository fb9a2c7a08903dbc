package simulator_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
)

// How long the client asks over real connections. Ten minutes:
//
//	go test ./api/simulator -run AsFastAsItMay -timeout 15m -v -args -for 10m
var saturateFor = flag.Duration("for", 3*time.Second, "how long the client asks over loopback HTTP")

const (
	askers       = 8               // of each endpoint class
	provokeEvery = 3 * time.Minute // a 429 that the client did nothing for
	wantShare    = 0.95            // of the reads that the limits allow
	longest      = time.Minute     // that the client asks until it has used its share
)

// A client that asks as fast as it may, at the contract's default limits, is
// never refused but where that was provoked, and leaves hardly any read unused.
func TestAClientThatAsksAsFastAsItMay(t *testing.T) {
	t.Run("ten minutes on a simulated clock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sim := limitedSimulator(t)
			transport := distant{sim.Handler(), 30 * time.Millisecond}
			if share := saturate(t, sim, "http://127.0.0.1", transport, 10*time.Minute); share < wantShare {
				t.Errorf("%.2f %% of the allowed reads were used, want at least %.0f", 100*share, 100*wantShare)
			}
		})
	})
	t.Run("over loopback HTTP", func(t *testing.T) {
		sim := limitedSimulator(t)
		server := httptest.NewServer(sim.Handler())
		defer server.Close()
		// A machine that stands still for a while uses little of a short time.
		var share float64
		for length := *saturateFor; share < wantShare && length <= max(longest, *saturateFor); length *= 2 {
			share = saturate(t, sim, server.URL, nil, length)
		}
		if share < wantShare {
			t.Errorf("%.2f %% of the allowed reads were used, want at least %.0f", 100*share, 100*wantShare)
		}
	})
}

func limitedSimulator(t *testing.T) *simulator.Simulator {
	t.Helper()
	sim, err := simulator.New(simulator.Config{Key: api.NewSecret(clientKey), History: 5})
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// distant is a handler at the end of a line: each way takes a random time.
type distant struct {
	handler  http.Handler
	farthest time.Duration
}

func (d distant) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(rand.N(d.farthest) / 2) // of the bubble's clock
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	time.Sleep(rand.N(d.farthest) / 2)
	return w.Result(), r.Context().Err()
}

// tally counts the answers of one endpoint class.
type tally struct{ answered, refused atomic.Int64 }

func saturate(t *testing.T, sim *simulator.Simulator, address string, transport http.RoundTripper, length time.Duration) (share float64) {
	t.Helper()
	counts := map[quota.Class]*tally{quota.Reads: {}, quota.Mutations: {}, quota.Lookup: {}}
	client, err := api.New(api.Config{
		BaseURL: address, Key: api.NewSecret(clientKey), Transport: transport, Pacer: quota.NewPacer(quota.PacerConfig{}),
		Observe: func(e api.Exchange) {
			switch e.Status {
			case 0: // cut off by the end
			case http.StatusTooManyRequests:
				counts[e.Class].refused.Add(1)
			default:
				counts[e.Class].answered.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	asking := map[quota.Class]func() error{
		quota.Reads:     func() error { _, err := client.Intent(ctx, "ci_x"); return err },
		quota.Mutations: func() error { _, err := client.ConfirmIntent(ctx, "ci_x", api.ConfirmIntent{}); return err },
		quota.Lookup:    func() error { _, err := client.LookupProduct(ctx, "https://a.example/magic/unpublished"); return err },
	}
	var all sync.WaitGroup
	for _, ask := range asking {
		for range askers {
			all.Go(func() {
				for ctx.Err() == nil {
					if err := ask(); !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrPerSecond) && ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	provoked := provoke(ctx, t, sim)
	all.Wait()
	return report(t, counts, provoked, length)
}

// provoke has a read refused every few minutes until ctx ends, and counts them.
func provoke(ctx context.Context, t *testing.T, sim *simulator.Simulator) int64 {
	t.Helper()
	ticker := time.NewTicker(provokeEvery)
	defer ticker.Stop()
	for provoked := int64(0); ; provoked++ {
		select {
		case <-ctx.Done():
			return provoked
		case <-ticker.C:
		}
		r := httptest.NewRequest("POST", "/control/failures", strings.NewReader(`{"status":429,"method":"GET","path":"/api/v1/checkout-intents/"}`))
		r.Header.Set("Authorization", "Bearer "+clientKey)
		w := httptest.NewRecorder()
		if sim.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Errorf("provoking a 429: status %d", w.Code)
		}
	}
}

// report returns the share of the allowed reads that were used.
func report(t *testing.T, counts map[quota.Class]*tally, provoked int64, length time.Duration) (share float64) {
	t.Helper()
	for class, perSecond := range map[quota.Class]int64{quota.Reads: 10, quota.Mutations: 5, quota.Lookup: 10} {
		answered, refused := counts[class].answered.Load(), counts[class].refused.Load()
		allowed := float64(perSecond) * length.Seconds()
		t.Logf("%v of %s: %d of %.0f allowed (%.2f %%), %d refused", length, class, answered, allowed, 100*float64(answered)/allowed, refused)
		want := int64(0)
		if class == quota.Reads {
			want, share = provoked, float64(answered)/allowed
		}
		if refused != want {
			t.Errorf("%s: %d requests were refused, %d of them provoked", class, refused, want)
		}
	}
	return share
}
