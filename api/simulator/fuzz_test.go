package simulator

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"tillwatch/api"
)

func fuzzAccount(f *testing.F) *Simulator {
	f.Helper()
	s, err := New(Config{Key: api.NewSecret(testKey), Limits: Unlimited(), History: 10})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// FuzzOrder: whatever the body of a create is, the answer is an intent or a
// validation error in the contract's shape.
func FuzzOrder(f *testing.F) {
	f.Add(orderJSON(chiliCrisp))
	f.Add(orderJSON(magicURL("payment_failed")+"?while=placing", drawdown))
	f.Add(orderJSON(chiliCrisp, `"constraints":{"maxTotalPrice":1e3}`, `"promoCodes":[null,"A"]`, `"variantSelections":[{"label":"Size","value":6}]`))
	f.Add(`{"productUrl":"http://[::1]/","quantity":1e400,"buyer":[]}`)
	f.Add("{\"buyer\":\"\xff\"}")
	f.Add("{")
	s := fuzzAccount(f)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/api/v1/checkout-intents", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+testKey)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		var answer map[string]any
		decoder := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
		decoder.UseNumber() // a value that was refused is echoed, however large
		if err := decoder.Decode(&answer); err != nil {
			t.Fatalf("%d with %q: %v", w.Code, w.Body, err)
		}
		if !utf8.Valid(w.Body.Bytes()) {
			t.Fatalf("not UTF-8: %q", w.Body)
		}
		switch w.Code {
		case http.StatusCreated:
			closed(t, "intent", answer, []string{"id", "createdAt", "productUrl", "quantity", "buyer", "state"},
				"referenceId", "promoCodes", "discoverPromoCodes", "variantSelections", "constraints")
			s.mu.Lock()
			s.fulfilment.bring(s.fulfilment.intents[answer["id"].(string)], api.Completed, s.fulfilment.order.items[0].created)
			s.mu.Unlock()
		case http.StatusUnprocessableEntity:
			closed(t, "error", answer, []string{"name", "message", "status", "fields"})
			for field, what := range answer["fields"].(map[string]any) {
				closed(t, field, what, []string{"message"}, "value")
			}
		default:
			t.Fatalf("status %d", w.Code)
		}
	})
}

// FuzzRead: whatever is asked for, the answer is JSON with a status of the
// contract.
func FuzzRead(f *testing.F) {
	for _, path := range []string{
		"/api/v1/shipments?limit=3&after=bjoz", "/api/v1/shipments?ids=a&ids=b&status=lost", "/api/v1/events/evt_%2F",
		"/api/v1/products/lookup?url=https%3A%2F%2Fa.example%2Fmagic%2Fsplit-shipment", "/api//v1", "/api/v1/../x", "/%", "*",
	} {
		f.Add(path)
	}
	s := fuzzAccount(f)
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || strings.HasPrefix(u.Path, "/control") {
			return
		}
		r := &http.Request{Method: "GET", URL: u, Header: http.Header{"Authorization": {"Bearer " + testKey}}, Body: http.NoBody}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK, http.StatusNotFound, http.StatusUnprocessableEntity:
		default:
			t.Errorf("status %d", w.Code)
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d with %q", w.Code, w.Body)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(cursor(1))
	f.Add("bjow")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if number, ok := readCursor(text); ok {
			if again, ok := readCursor(cursor(number)); !ok || again != number {
				t.Errorf("%q reads as %d, which reads as %d", text, number, again)
			}
		}
	})
}
