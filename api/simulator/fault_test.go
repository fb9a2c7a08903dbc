package simulator

import (
	"net/http"
	"testing"
	"time"
)

// broken reports whether a request got no answer at all.
func (a *account) broken(method, path, body string) (broken bool) {
	a.Helper()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			broken = true
		}
	}()
	a.wire(method, path, body, "Bearer "+testKey)
	return false
}

func TestAnswersGoWrongAsAskedFor(t *testing.T) {
	awaiting := func(a *account) (id, confirm string) {
		id = a.want(http.StatusCreated, a.call("POST", "/control/intents", `{"state":"awaiting_confirmation"}`))["id"].(string)
		return id, "/api/v1/checkout-intents/" + id + "/confirm"
	}
	order := func(a *account, fault string) { a.want(http.StatusOK, a.call("POST", "/control/failures", fault)) }
	const drawdown = `{"paymentMethod":{"type":"drawdown"}}`
	plainRows{
		"the connection breaks before anything is done": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"drop":true,"method":"POST"}`)
			if !a.broken("POST", confirm, drawdown) || a.sim.Orders(id) != 0 {
				a.Errorf("%d orders", a.sim.Orders(id))
			}
		},
		"the connection breaks after all is done": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"drop":true,"after":true,"method":"POST"}`)
			if !a.broken("POST", confirm, drawdown) || a.sim.Orders(id) != 1 {
				a.Errorf("%d orders", a.sim.Orders(id))
			}
		},
		"a doubled confirm places once and is refused": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"twice":true,"method":"POST"}`)
			a.want(http.StatusNotFound, a.wire("POST", confirm, drawdown, "Bearer "+testKey))
			if a.sim.Orders(id) != 1 {
				a.Errorf("%d orders", a.sim.Orders(id))
			}
		},
		"a confirm is held back": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"lateBy":30,"method":"POST"}`)
			begin := time.Now()
			answered := make(chan response, 1)
			go func() { answered <- a.wire("POST", confirm, drawdown, "Bearer "+testKey) }()
			later(20 * time.Second)
			if a.sim.Orders(id) != 0 {
				a.Error("it took effect at once")
			}
			a.want(http.StatusOK, <-answered)
			if held := time.Since(begin); held < 30*time.Second || a.sim.Orders(id) != 1 {
				a.Errorf("answered after %v with %d orders", held, a.sim.Orders(id))
			}
		},
		"what is held back is let go": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"lateBy":3600,"method":"POST"}`)
			begin := time.Now()
			answered := make(chan response, 1)
			go func() { answered <- a.wire("POST", confirm, drawdown, "Bearer "+testKey) }()
			later(20 * time.Second)
			a.want(http.StatusOK, a.call("POST", "/control/failures/end", ""))
			a.want(http.StatusOK, <-answered)
			if held := time.Since(begin); held >= time.Minute || a.sim.Orders(id) != 1 {
				a.Errorf("answered after %v with %d orders", held, a.sim.Orders(id))
			}
		},
		"what makes no sense is refused": func(a *account) {
			a.want(422, a.call("POST", "/control/failures", `{"lateBy":-1}`))
			a.want(422, a.call("POST", "/control/failures", `{"count":0,"drop":true}`))
		},
	}.run(t)
}
