package simulator

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	createPath   = "/api/v1/checkout-intents"
	purchasePath = createPath + "/purchase"
)

// keyed makes a POST with an Idempotency-Key in a fresh second.
func (a *account) keyed(key, path, body string) response {
	a.Helper()
	later(time.Second)
	return a.keyedAtOnce(key, path, body)
}

func (a *account) keyedAtOnce(key, path, body string) response {
	a.Helper()
	r := httptest.NewRequest("POST", "http://api.example"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testKey)
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	a.sim.Handler().ServeHTTP(w, r)
	return response{w.Code, w.Result().Header, w.Body.Bytes()}
}

// intents is how many intents there are.
func (a *account) intents() int {
	total := 0
	for _, n := range a.summary().Intents {
		total += n
	}
	return total
}

func TestIdempotencyKeys(t *testing.T) {
	rows{
		"the same key: the same intent": func(a *account) {
			for i, path := range []string{createPath, purchasePath} {
				first := a.keyed("order-"+path, path, orderJSON(chiliCrisp, drawdown))
				a.want(http.StatusCreated, first)
				later(10 * time.Second)
				again := a.keyed("order-"+path, path, " "+orderJSON(chiliCrisp, drawdown)+"\n")
				if again.status != http.StatusCreated || string(again.body) != string(first.body) || a.intents() != i+1 {
					a.Errorf("%d intents; first %s, again %d %s", a.intents(), first.body, again.status, again.body)
				}
				if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
					a.Errorf("replayed: first %q, again %q", first.header.Get("Idempotent-Replayed"), again.header.Get("Idempotent-Replayed"))
				}
				reports(a, "again", again, `"default";q=5;w=1`, `"default";r=4;t=1`)
			}
		},
		"a repetition charges the mutations and not the day": func(a *account) {
			a.call("PUT", "/control/buckets/checkout-intents", `{"remaining":1}`)
			for range 3 {
				a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			}
			a.want(http.StatusTooManyRequests, a.keyed("other", createPath, orderJSON(chiliCrisp)))
		},
		"other keys and none: other intents": func(a *account) {
			a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			a.want(http.StatusCreated, a.keyed("K", createPath, orderJSON(chiliCrisp)))
			a.create(chiliCrisp)
			a.create(chiliCrisp)
			if a.intents() != 4 {
				a.Errorf("%d intents, want 4", a.intents())
			}
		},
		"another request under the same key is refused": func(a *account) {
			first := a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			for _, other := range []struct{ path, body string }{
				{createPath, orderJSON(magicURL("digital"))},
				{purchasePath, orderJSON(chiliCrisp)},
				{createPath, "{}"},
				{createPath + "/" + first["id"].(string) + "/confirm", orderJSON(chiliCrisp)},
			} {
				body := a.want(422, a.keyed("k", other.path, other.body))
				closed(a, other.path, body, []string{"name", "message", "status", "fields"})
				closed(a, "fields", body["fields"], []string{"Idempotency-Key"})
			}
			if a.intents() != 1 {
				a.Errorf("%d intents, want 1", a.intents())
			}
		},
		"a confirm is repeated and places once": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			path := createPath + "/" + id + "/confirm"
			first := a.keyed("yes", path, "{"+drawdown+"}")
			a.want(http.StatusOK, first)
			later(time.Minute)
			again := a.keyed("yes", path, "{"+drawdown+"}")
			if again.status != http.StatusOK || string(again.body) != string(first.body) || a.orders(id) != 1 {
				a.Errorf("%d orders, again %d %s", a.orders(id), again.status, again.body)
			}
			a.want(http.StatusNotFound, a.keyed("yes once more", path, "{"+drawdown+"}"))
		},
		"what failed may be tried again under its key": func(a *account) {
			a.want(422, a.keyed("k", createPath, refusedOrder()))
			a.want(http.StatusOK, a.call("POST", "/control/faults", `{"status":500,"method":"POST","path":"/api/v1/"}`))
			a.want(http.StatusInternalServerError, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			if a.intents() != 0 {
				a.Fatalf("%d intents, want none", a.intents())
			}
			id := a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))["id"].(string)
			a.want(http.StatusNotFound, a.keyed("yes", createPath+"/"+id+"/confirm", "{"+drawdown+"}"))
			later(10 * time.Second)
			a.want(http.StatusOK, a.keyed("yes", createPath+"/"+id+"/confirm", "{"+drawdown+"}"))
		},
		"an answer that was lost is had by a repetition": func(a *account) {
			for i, fault := range []string{`{"status":500,"after":true,"method":"POST","path":"/api/v1/"}`, `{"twice":true,"method":"POST","path":"/api/v1/"}`} {
				a.want(http.StatusOK, a.call("POST", "/control/faults", fault))
				key := fmt.Sprint("k", i)
				a.keyed(key, createPath, orderJSON(chiliCrisp))
				a.want(http.StatusCreated, a.keyed(key, createPath, orderJSON(chiliCrisp)))
				if a.intents() != i+1 {
					a.Errorf("%s: %d intents, want %d", fault, a.intents(), i+1)
				}
			}
		},
		"two that overtake each other": func(a *account) {
			a.want(http.StatusOK, a.call("POST", "/control/faults", `{"lateBy":20,"method":"POST","path":"/api/v1/"}`))
			held := make(chan response, 1)
			go func() { held <- a.keyedAtOnce("k", createPath, orderJSON(chiliCrisp)) }()
			later(time.Second)
			first := a.keyed("k", createPath, orderJSON(chiliCrisp))
			a.want(http.StatusCreated, first)
			if late := <-held; string(late.body) != string(first.body) || a.intents() != 1 {
				a.Errorf("%d intents; the one that was held back got %d %s", a.intents(), late.status, late.body)
			}
		},
		"a key that is too long": func(a *account) {
			body := a.want(422, a.keyed(strings.Repeat("k", 256), createPath, orderJSON(chiliCrisp)))
			closed(a, "fields", body["fields"], []string{"Idempotency-Key"})
			a.want(http.StatusCreated, a.keyed(strings.Repeat("k", 255), createPath, orderJSON(chiliCrisp)))
			a.want(http.StatusCreated, a.keyed("", createPath, orderJSON(chiliCrisp)))
			a.want(http.StatusCreated, a.keyed("", createPath, orderJSON(chiliCrisp)))
		},
		"a key is forgotten after a day": func(a *account) {
			a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			later(24*time.Hour - 2*time.Second)
			a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			if a.intents() != 1 {
				a.Errorf("before: %d intents, want 1", a.intents())
			}
			later(2 * time.Second)
			a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			if a.intents() != 2 {
				a.Errorf("after: %d intents, want 2", a.intents())
			}
		},
		"reads know no keys": func(a *account) {
			id := a.create(chiliCrisp)
			before := a.intent(id)["state"]
			later(10 * time.Second)
			if after := a.intent(id)["state"]; before == after {
				a.Errorf("still %v", after)
			}
		},
	}.run(t)
	t.Run("failures are remembered, behind a switch", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.RememberFailures = true }, func(a *account) {
			fault := func(order string) { a.want(http.StatusOK, a.call("POST", "/control/faults", order)) }
			for _, status := range []int{402, 500, 503} {
				key := fmt.Sprint("k", status)
				fault(fmt.Sprintf(`{"status":%d,"method":"POST","path":"/api/v1/"}`, status))
				first := a.keyed(key, createPath, orderJSON(chiliCrisp))
				again := a.keyed(key, createPath, orderJSON(chiliCrisp))
				if first.status != status || again.status != status || string(first.body) != string(again.body) || again.header.Get("Idempotent-Replayed") != "true" {
					a.Errorf("first %d %s, again %d %s", first.status, first.body, again.status, again.body)
				}
			}
			if a.intents() != 0 {
				a.Fatalf("%d intents, want none", a.intents())
			}
			for _, status := range []int{401, 422, 429} { // refused before anything began
				key := fmt.Sprint("k", status)
				fault(fmt.Sprintf(`{"status":%d,"method":"POST","path":"/api/v1/"}`, status))
				a.want(status, a.keyed(key, createPath, orderJSON(chiliCrisp)))
				a.want(http.StatusCreated, a.keyed(key, createPath, orderJSON(chiliCrisp)))
			}
			id := a.want(http.StatusCreated, a.keyed("new", createPath, orderJSON(chiliCrisp)))["id"].(string)
			a.want(http.StatusNotFound, a.keyed("yes", createPath+"/"+id+"/confirm", "{"+drawdown+"}"))
			later(10 * time.Second)
			a.want(http.StatusNotFound, a.keyed("yes", createPath+"/"+id+"/confirm", "{"+drawdown+"}"))
			fault(`{"status":500,"after":true,"method":"POST","path":"/api/v1/"}`)
			a.want(http.StatusInternalServerError, a.keyed("once more", createPath+"/"+id+"/confirm", "{"+drawdown+"}"))
			a.want(http.StatusOK, a.keyed("once more", createPath+"/"+id+"/confirm", "{"+drawdown+"}"))
			if a.orders(id) != 1 {
				a.Errorf("%d orders, want 1", a.orders(id))
			}
		})
	})
	t.Run("ignored, behind a switch", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.IgnoreIdempotencyKeys = true }, func(a *account) {
			a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			a.want(http.StatusCreated, a.keyed("k", createPath, orderJSON(chiliCrisp)))
			if a.intents() != 2 {
				a.Errorf("%d intents, want 2", a.intents())
			}
		})
	})
}

func TestConcurrentRequestsUnderOneKeyMakeOneIntent(t *testing.T) {
	inBubble(t, func(c *Config) { c.Limits = Unlimited() }, func(a *account) {
		var all sync.WaitGroup
		answers := make([]response, 200)
		for i := range answers {
			all.Go(func() {
				answers[i] = a.keyedAtOnce(fmt.Sprint("k", i%4), createPath, orderJSON(chiliCrisp, fmt.Sprintf(`"referenceId":"%d"`, i%4)))
			})
		}
		all.Wait()
		for i, r := range answers {
			if r.status != http.StatusCreated || string(r.body) != string(answers[i%4].body) {
				t.Fatalf("answer %d is %d %s", i, r.status, r.body)
			}
		}
		if a.intents() != 4 {
			t.Errorf("%d intents, want 4", a.intents())
		}
	})
}

func TestKeysAreForgottenWhenThereAreTooMany(t *testing.T) {
	p := repeats{byKey: map[string]*taken{}}
	now := time.Now()
	done := 0
	take := func(n int) { p.take(fmt.Sprint(n), [32]byte{}, now, func() answer { done++; return ok(nil) }) }
	for n := range 3 * keysKept {
		take(n)
	}
	if len(p.byKey) != keysKept || len(p.queue) != keysKept || done != 3*keysKept {
		t.Errorf("%d keys in a queue of %d after %d requests", len(p.byKey), len(p.queue), done)
	}
	take(3*keysKept - 1)
	take(2*keysKept + 10)
	if done != 3*keysKept {
		t.Errorf("a key that is kept was taken for a new one")
	}
	take(0)
	if done != 3*keysKept+1 {
		t.Errorf("the oldest key was kept")
	}
}
