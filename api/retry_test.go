package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/quota"
)

func TestReadsAreRetriedWhenTheFailurePasses(t *testing.T) {
	tests := []struct {
		name          string
		status        int
		header, body  string
		sent          int
		least, most   time.Duration // until the last attempt
		is            error
		isUnknownKind bool
	}{
		{"internal error", 500, "", `{"message":"x"}`, 3, 450 * time.Millisecond, 1350 * time.Millisecond, nil, true},
		{"gateway", 502, "", `<html><title>Bad Gateway</title>`, 3, 450 * time.Millisecond, 1350 * time.Millisecond, nil, true},
		{"not implemented", 501, "", ``, 1, 0, 0, nil, true},
		{"per second", 429, "", `{"message":"Too many requests per second"}`, 3, 3 * time.Second, 6 * time.Second, ErrPerSecond, false},
		{"per second with a time", 429, "3", `{"message":"Too many requests per second"}`, 3, 6 * time.Second, 6500 * time.Millisecond, ErrPerSecond, false},
		{"a time beyond patience", 503, "3600", ``, 1, 0, 0, nil, true},
		{"daily", 429, "1", `{"message":"You have reached the limit of 50 checkout intents per day"}`, 1, 0, 0, ErrDailyLimit, false},
		{"agents", 429, "1", `{"message":"You have reached the limit of 10 running agents"}`, 1, 0, 0, ErrAgentsLimit, false},
		{"not found", 404, "", `{"name":"NotFoundError","message":"no"}`, 1, 0, 0, ErrNotFound, false},
		{"missing", 404, "", `{"name":"NotFoundError","message":"no"}`, 1, 0, 0, ErrMissing, false},
		{"unauthorized", 401, "", `{}`, 1, 0, 0, ErrUnauthorized, false},
		{"conflict", 409, "", `{}`, 1, 0, 0, ErrConflict, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				started := time.Now()
				var last time.Duration
				client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
					sent++
					last = time.Since(started)
					if test.header != "" {
						w.Header().Set("Retry-After", test.header)
					}
					w.WriteHeader(test.status)
					io.WriteString(w, test.body)
				})
				_, err := client.Intent(t.Context(), "ci_1")
				if err == nil || test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("got %v, want %v", err, test.is)
				}
				same(t, "requests", sent, test.sent)
				same(t, "unknown outcome", IsUnknownOutcome(err), test.isUnknownKind)
				if last < test.least || last > test.most {
					t.Errorf("the last attempt went out after %s, want %s to %s", last, test.least, test.most)
				}
			})
		})
	}
}

func TestAReadIsSentAgainOnceTheQuotaIsBack(t *testing.T) {
	tests := []struct {
		name        string
		status      int
		limit       string
		retryAfter  string
		sent        int
		least, most time.Duration // until the last attempt
	}{
		{"after t", 429, `"default";r=0;t=5`, "", 3, 10 * time.Second, 10500 * time.Millisecond},
		{"after t of the last that is used up", 429, `"burst";r=0;t=1, "minute";r=0;t=9`, "", 3, 18 * time.Second, 18500 * time.Millisecond},
		{"no sooner than the growing pause", 429, `"default";r=0;t=1`, "", 3, 3 * time.Second, 6 * time.Second},
		{"Retry-After goes before t", 429, `"default";r=0;t=20`, "3", 3, 6 * time.Second, 6500 * time.Millisecond},
		{"also after an internal error", 500, `"default";r=0;t=2`, "", 3, 4 * time.Second, 4500 * time.Millisecond},
		{"not at all when t is beyond patience", 429, `"default";r=0;t=45`, "", 1, 0, 0},
		{"as ever while something is left", 500, `"default";r=1;t=20`, "", 3, 450 * time.Millisecond, 1350 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent, started := 0, time.Now()
				var last time.Duration
				client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
					sent++
					last = time.Since(started)
					w.Header().Set("RateLimit", test.limit)
					if test.retryAfter != "" {
						w.Header().Set("Retry-After", test.retryAfter)
					}
					w.WriteHeader(test.status)
					io.WriteString(w, `{"message":"x"}`)
				})
				if _, err := client.Intent(t.Context(), "ci_1"); err == nil {
					t.Error("no error")
				}
				same(t, "requests", sent, test.sent)
				if last < test.least || last > test.most {
					t.Errorf("the last attempt went out after %s, want %s to %s", last, test.least, test.most)
				}
			})
		})
	}
}

func TestReadsSucceedOnceTheFailureHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts []Exchange
		client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "r-1")
			if len(attempts) == 0 {
				w.WriteHeader(500)
				return
			}
			io.WriteString(w, `{"id":"ci_1","state":"failed"}`)
		}, func(c *Config) { c.Observe = func(e Exchange) { attempts = append(attempts, e) } })
		ctx := quota.WithPriority(t.Context(), quota.Timer)
		intent, err := client.Intent(ctx, "ci_1")
		if err != nil || intent.State != Failed {
			t.Fatalf("got %v, %v", intent, err)
		}
		same(t, "attempts", len(attempts), 2)
		for i, e := range attempts {
			same(t, "number", e.Attempt, i+1)
			same(t, "method", e.Method, "GET")
			same(t, "path", e.Path, "/api/v1/checkout-intents/ci_1")
			same(t, "class", e.Class, quota.Reads)
			same(t, "priority", e.Priority, quota.Timer)
			same(t, "request id", e.RequestID, "r-1")
			same(t, "an error", e.Err != nil, i == 0)
			same(t, "status", e.Status, []int{500, 200}[i])
		}
	})
}

func TestAReadWithTooLittleTimeLeftRepeatsWhatTheServiceSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		started := time.Now()
		client := clientOf(t, answering(429, `{"message":"Too many requests per second"}`))
		_, err := client.Intent(ctx, "ci_1")
		same(t, "per second", errors.Is(err, ErrPerSecond), true)
		same(t, "waited", time.Since(started), 0)
	})
}

func TestPOSTsAreSentOnceWhateverHappens(t *testing.T) {
	for _, status := range []int{500, 502, 503, 429, 408} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
					sent++
					w.WriteHeader(status)
					io.WriteString(w, `{"message":"Too many requests per second"}`)
				})
				_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
				same(t, "requests", sent, 1)
				same(t, "unknown outcome", IsUnknownOutcome(err), status != 429)
				same(t, "per second", errors.Is(err, ErrPerSecond), status == 429)
			})
		})
	}
}
