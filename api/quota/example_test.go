package quota_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"tillwatch/api/quota"
)

// A program that calls the service by itself sees what is left of the account's
// quota in the answers that it gets anyway.
func ExampleTransport() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("RateLimit-Policy", `"default";q=5;w=1`)
		w.Header().Set("RateLimit", `"default";r=4;t=1`)
		io.WriteString(w, `{"id":"ci_1","state":"placing_order"}`)
	}))
	defer service.Close()

	client := &http.Client{Transport: &quota.Transport{Observe: func(o quota.Observation) {
		fmt.Println(o.Method, o.Endpoint, o.Status, "charged", o.Class)
		for _, bucket := range o.Reports {
			fmt.Printf("%d of %d left for %v\n", bucket.Remaining, bucket.Limit, bucket.Reset)
		}
		fmt.Println(o.IntentID, "is", o.State)
	}}}
	answer, err := client.Post(service.URL+"/api/v1/checkout-intents/ci_1/confirm", "application/json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()

	// Output:
	// POST /api/v1/checkout-intents/{id}/confirm 200 charged mutations
	// 4 of 5 left for 1s
	// ci_1 is placing_order
}
