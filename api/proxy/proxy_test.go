package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tillwatch/api/quota"
)

func TestWhatPassesIsReportedOnceAndInOrder(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("RateLimit-Policy", `"default";q=5;w=1`)
		w.Header().Set("RateLimit", `"default";r=4;t=1`)
		_, _ = io.WriteString(w, `{"id":"ci_1","state":"retrieving_offer","referenceId":"order-1"}`)
	})
	p := stand(t, upstream.URL, nil)
	client := caller(t)
	for _, path := range []string{"/api/v1/checkout-intents", "/api/v1/checkout-intents/ci_1/confirm"} {
		r := newRequest(t, "POST", p.url+path, "{}")
		r.Header.Set("User-Agent", "shop/1")
		r.Header.Set("Authorization", "Bearer a-key-of-the-shop")
		fetch(t, client, r)
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	seen := p.reported.all()
	if len(seen) != 2 || seen[0].Endpoint != "/api/v1/checkout-intents" ||
		seen[1].Endpoint != "/api/v1/checkout-intents/{id}/confirm" || seen[0].ID == seen[1].ID {
		t.Fatalf("got %+v", seen)
	}
	if o := seen[0]; o.Class != quota.Mutations || o.Status != 200 || o.Spender != "shop/1" || o.Key == "" ||
		o.IntentID != "ci_1" || o.State != "retrieving_offer" || o.Reference != "order-1" || len(o.Reports) != 1 || o.Reports[0].Remaining != 4 {
		t.Errorf("got %+v", o)
	}
}

func TestTheServiceIsReachedBelowThePathOfItsBaseURL(t *testing.T) {
	upstream := service(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host+" "+r.RequestURI) })
	p := stand(t, upstream.URL+"/gateway/", nil)
	_, body := fetch(t, caller(t), newRequest(t, "GET", p.url+"/api/v1/events/evt%2F1%7c?a=%zz;b&c", ""))
	if want := strings.TrimPrefix(upstream.URL, "http://") + " /gateway/api/v1/events/evt%2F1%7c?a=%zz;b&c"; body != want {
		t.Errorf("the service was asked for %s, want %s", body, want)
	}
	if err := p.end(); err != nil || p.reported.all()[0].Endpoint != "/api/v1/events/{id}" {
		t.Errorf("%v, %+v", err, p.reported.all())
	}
}

func TestAnObserverThatHangsIsInNobodysWay(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	upstream := service(t, func(http.ResponseWriter, *http.Request) {})
	p := stand(t, upstream.URL, func(c *Config) {
		c.Observe, c.Dropped = func([]quota.Observation) { <-hang }, func() int64 { return 7000 } // by relays
	})
	client := caller(t)
	for range maxQueued + maxBatch + 50 {
		if answer, _ := fetch(t, client, newRequest(t, "GET", p.url+"/api/v1/events", "")); answer.StatusCode != 200 {
			t.Fatal(answer.Status)
		}
	}
	scrape := httptest.NewRecorder()
	p.Metrics().ServeHTTP(scrape, httptest.NewRequest("GET", "/metrics", nil))
	told, all := scrape.Body.String(), strconv.Itoa(maxQueued+maxBatch+50)
	if !strings.Contains(told, "observations_dropped_total 7") || strings.Contains(told, "observations_dropped_total 7000\n") ||
		!strings.Contains(told, `tillwatch_proxy_requests_total{class="reads",status="2xx"} `+all) {
		t.Errorf("metrics: %s", told)
	}
}

func TestAServiceIsNotReachedInClearTextUnlessThatIsAllowed(t *testing.T) {
	if _, err := New(Config{Upstream: "http://api.example"}); err == nil || !strings.Contains(err.Error(), "API keys unencrypted") {
		t.Errorf("got %v", err)
	}
	if _, err := New(Config{Upstream: "http://api.example", InsecureHTTP: true}); err != nil {
		t.Error(err)
	}
	for _, header := range []string{
		"authorization", "Cookie", "Set-Cookie", "X-Api-Key", "x-access-TOKEN", "X-Client-Secret", "X-Auth", "X-Password",
		"X Job", "X-Job\r\nA: b",
	} {
		if _, err := New(Config{Upstream: "https://api.example", SpenderHeader: header}); err == nil {
			t.Errorf("%q was taken as the spender's header", header)
		}
	}
}

// BenchmarkLatency reports the median of reads at 100 a second by turns: straight, and through the proxy.
func BenchmarkLatency(b *testing.B) {
	direct := service(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json"}
		w.Header()["RateLimit"] = []string{`"default";r=9;t=1`}
		_, _ = io.WriteString(w, `{"id":"ci_1","state":"awaiting_confirmation","referenceId":"order-1"}`)
	}).URL
	bases := []string{direct, stand(b, direct, nil).url}
	client := caller(b)
	took := make([][]time.Duration, len(bases))
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for b.Loop() {
		for i, base := range bases {
			<-ticker.C
			began := time.Now()
			fetch(b, client, newRequest(b, "GET", base+"/api/v1/checkout-intents/ci_1", ""))
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i, name := range []string{"ms-direct", "ms-through"} {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2])/float64(time.Millisecond), name)
	}
}
