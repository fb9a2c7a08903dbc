package relay

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestPagesOfAllowedOriginsMayDeliver(t *testing.T) {
	const shop = "https://shop.example"
	for _, test := range []struct {
		name    string
		allowed []string
		origin  string
		status  int // of the preflight
		marked  string
	}{
		{"an allowed origin", []string{"https://other.example", shop}, shop, http.StatusNoContent, shop},
		{"an allowed origin in other case", []string{"https://Shop.example"}, shop, http.StatusNoContent, shop},
		{"another origin", []string{shop}, "https://evil.example", http.StatusMethodNotAllowed, ""},
		{"another port", []string{shop}, shop + ":8443", http.StatusMethodNotAllowed, ""},
		{"no origin", []string{shop}, "", http.StatusMethodNotAllowed, ""},
		{"none allowed", nil, shop, http.StatusMethodNotAllowed, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.AllowedOrigins = test.allowed })
			preflight := httptest.NewRequest(http.MethodOptions, WebhookPath, nil)
			delivered := signedRequest(eventBody(1))
			for _, req := range []*http.Request{preflight, delivered} {
				if test.origin != "" {
					req.Header.Set("Origin", test.origin)
				}
			}
			w := serve(r.Ingest(), preflight)
			if w.Code != test.status || w.Header().Get("Access-Control-Allow-Origin") != test.marked {
				t.Errorf("preflight: %d %v", w.Code, w.Header())
			}
			const headers = "content-type, x-svc-signature, x-svc-event-id, x-svc-timestamp, x-svc-topic"
			if allowed := w.Header().Get("Access-Control-Allow-Headers"); (allowed == headers) != (test.marked != "") {
				t.Errorf("preflight allows %q", allowed)
			}
			w = serve(r.Ingest(), delivered)
			if w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != test.marked {
				t.Errorf("delivery: %d %v", w.Code, w.Header())
			}
		})
	}
}
