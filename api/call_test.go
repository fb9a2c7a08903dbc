package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/quota"
)

func TestQueryValuesAreNotObserved(t *testing.T) {
	var seen []Exchange
	client := clientOf(t, answering(200, `[]`), func(c *Config) { c.Observe = func(e Exchange) { seen = append(seen, e) } })
	if err := drain(client.Shipments(t.Context(), ShipmentQuery{IDs: []ID{"private"}, Limit: 5})); err != nil {
		t.Fatal(err)
	}
	same(t, "path", seen[0].Path, "/api/v1/shipments?ids=…&limit=…")
}

// tollgate is a pacer that makes every request wait.
type tollgate struct {
	wait    time.Duration
	err     error
	classes []quota.Class
}

func (g *tollgate) Acquire(ctx context.Context, class quota.Class) (quota.Permit, error) {
	g.classes = append(g.classes, class)
	if g.err != nil {
		return quota.Permit{}, g.err
	}
	return quota.Permit{}, Sleep(ctx, g.wait)
}

func TestWaitingForQuotaIsNoLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := &tollgate{wait: 4 * time.Second}
		var seen []Exchange
		client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			if err := Sleep(r.Context(), 2*time.Second); err != nil {
				t.Error(err)
			}
			io.WriteString(w, `{"id":"ci_1"}`)
		}, func(c *Config) {
			c.Pacer = gate
			c.Observe = func(e Exchange) { seen = append(seen, e) }
		})
		asked := time.Now()
		in, err := client.Intent(t.Context(), "ci_1")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "went out after", in.Response.Sent.Sub(asked), 4*time.Second)
		same(t, "status", in.Response.Status, 200)
		if _, err := client.LookupProduct(t.Context(), "https://a.example"); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{}); err != nil {
			t.Fatal(err)
		}
		same(t, "classes", fmt.Sprint(gate.classes), "[reads lookup mutations]")
		same(t, "waited", seen[0].Waited, 4*time.Second)
		same(t, "latency", seen[0].Latency, 2*time.Second)
	})
}

func TestEveryAttemptIsBookedByThePacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := quota.NewPacer(quota.PacerConfig{})
		sent := 0
		client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			sent++
			w.Header().Add("RateLimit-Policy", `"default";q=10;w=1`)
			w.Header().Add("RateLimit", fmt.Sprintf(`"default";r=%d;t=1`, 10-sent))
			if sent == 1 {
				w.WriteHeader(500)
			}
			io.WriteString(w, `{"id":"ci_1"}`)
		}, func(c *Config) { c.Pacer = pacer })
		if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
			t.Fatal(err)
		}
		buckets := pacer.Buckets(time.Now())
		if len(buckets) != 1 || buckets[0].Class != quota.Reads || buckets[0].Limit != 10 || buckets[0].Remaining != 8 {
			t.Errorf("the pacer knows %+v", buckets)
		}
		// A permit that was not given back would hold these up for ever.
		for range 40 {
			if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
				t.Fatal(err)
			}
			sent = 1
		}
	})
}

func TestCancellationIsReturnedAsSuch(t *testing.T) {
	t.Run("while waiting for quota", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			client := clientOf(t, answering(200, `{}`), func(c *Config) { c.Pacer = &tollgate{wait: time.Hour} })
			_, err := client.ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
			same(t, "deadline", errors.Is(err, context.DeadlineExceeded), true)
			same(t, "unknown outcome", IsUnknownOutcome(err), false)
		})
	})
	t.Run("before anything was sent", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		client := clientOf(t, func(http.ResponseWriter, *http.Request) { t.Error("a request left") })
		_, err := client.ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
		same(t, "canceled", errors.Is(err, context.Canceled), true)
		same(t, "unknown outcome", IsUnknownOutcome(err), false)
	})
	t.Run("while waiting for a retry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			sent := 0
			client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
				sent++
				time.AfterFunc(time.Millisecond, cancel)
				w.WriteHeader(500)
			})
			_, err := client.Intent(ctx, "ci_1")
			same(t, "canceled", errors.Is(err, context.Canceled), true)
			same(t, "requests", sent, 1)
		})
	})
	t.Run("while the service works", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			client := clientOf(t, func(_ http.ResponseWriter, r *http.Request) {
				cancel()
				<-r.Context().Done()
			})
			_, err := client.ConfirmIntent(ctx, "ci_1", ConfirmIntent{})
			same(t, "canceled", errors.Is(err, context.Canceled), true)
			same(t, "unknown outcome", IsUnknownOutcome(err), true)
		})
	})
}

func TestTimeoutOfAConfirmIsAnUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		client := clientOf(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
		same(t, "waited", time.Since(started), AttemptTimeout)
		same(t, "unknown outcome", IsUnknownOutcome(err), true)
		same(t, "says how long, and ends with that", strings.HasSuffix(err.Error(), "nothing within 15s"), true)
	})
}

func TestSuccessesThatCannotBeReadAreUnknownOutcomes(t *testing.T) {
	tests := []struct{ name, body, says string }{
		{"HTML", "<html>", "an HTML page instead of JSON"},
		{"nothing", "", "empty body"},
		{"no id", `{"state":"failed"}`, "id is missing"},
		{"too large", `{"id":"` + strings.Repeat("x", maxBody) + `"}`, "larger than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client := clientOf(t, answering(200, test.body))
			_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{})
			if err == nil || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 300 {
				t.Errorf("got %v, want an error that says %q", err, test.says)
			}
			same(t, "unknown outcome", IsUnknownOutcome(err), true)
		})
	}
}

func TestASuccessThatIsNotOfTheContractIsObservedAsAFailure(t *testing.T) {
	read := func(c *Client) error { _, err := c.Intent(t.Context(), "ci_1"); return err }
	list := func(c *Client) error {
		for _, err := range c.Intents(t.Context()) {
			return err
		}
		return nil
	}
	tests := []struct {
		name, body string
		call       func(*Client) error
		fails      bool
	}{
		{"an intent", `{"id":"ci_1"}`, read, false},
		{"a sign-in page for an intent", "<!DOCTYPE html><title>Sign in</title>", read, true},
		{"an empty body for an intent", "", read, true},
		{"another intent", `{"id":"ci_2"}`, read, true},
		{"a list", `{"data":[{"id":"ci_1"}]}`, list, false},
		{"a sign-in page for a list", "<!DOCTYPE html><title>Sign in</title>", list, true},
		{"an object for a list", `{"id":"ci_1"}`, list, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var seen []Exchange
			client := clientOf(t, answering(200, test.body), func(c *Config) {
				c.Observe = func(e Exchange) { seen = append(seen, e) }
			})
			err := test.call(client)
			same(t, "failed", err != nil, test.fails)
			same(t, "exchanges", len(seen), 1) // the next answer would be the same
			same(t, "status", seen[0].Status, 200)
			same(t, "observed as failed", seen[0].Err != nil, test.fails)
		})
	}
}

func TestAnAnswerAboutSomethingElseIsRefused(t *testing.T) {
	folding := clientOf(t, answering(200, `{"id":"ci_a"}`))
	if _, err := folding.Intent(t.Context(), "CI_A"); err == nil { // or one intent would have two names, and be confirmed by each
		t.Error("an answer about ci_a passes for one about CI_A")
	}
	client := clientOf(t, answering(200, `{"id":"other","type":"t","source":{"id":"s","type":"x"}}`))
	calls := map[string]func() error{
		"intent":   func() error { _, err := client.Intent(t.Context(), "asked"); return err },
		"event":    func() error { _, err := client.Event(t.Context(), "asked"); return err },
		"shipment": func() error { _, err := client.Shipment(t.Context(), "asked"); return err },
		"confirm": func() error {
			_, err := client.ConfirmIntent(t.Context(), "asked", ConfirmIntent{})
			return err
		},
	}
	for name, call := range calls {
		err := call()
		if err == nil || !IsUnknownOutcome(err) || !strings.Contains(err.Error(), `about "other"`) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308} {
		sent := 0
		client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			sent++
			http.Redirect(w, r, "https://elsewhere.example/steal", status)
		})
		_, err := client.Intent(t.Context(), "ci_1")
		same(t, "requests", sent, 1)
		if err == nil || strings.Contains(err.Error(), "steal") {
			t.Errorf("%d: got %v", status, err)
		}
	}
}

func TestOnlyAnAnswerThatLeadsElsewhereIsCalledARedirect(t *testing.T) {
	client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	_, err := client.Intent(t.Context(), "ci_1")
	if err == nil || strings.Contains(err.Error(), "redirect") {
		t.Errorf("got %v", err)
	}
}
