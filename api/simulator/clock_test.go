package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

func (a *account) setClock(body string) {
	a.Helper()
	a.want(http.StatusOK, a.burst("PUT", "/control/clock", body))
}

func (a *account) state(id string) string {
	a.Helper()
	return fmt.Sprint(a.intent(id)["state"])
}

func TestTheClockOfTheService(t *testing.T) {
	plainRows{
		"nothing moves while it stands, and it goes on from there": func(a *account) {
			a.setClock(`{"stopped":true}`)
			id := a.create(chiliCrisp)
			later(time.Hour)
			if state := a.state(id); state != "retrieving_offer" {
				a.Errorf("the intent is %s", state)
			}
			a.setClock(`{"stopped":false}`)
			later(10 * time.Second)
			if state := a.state(id); state != "awaiting_confirmation" {
				a.Errorf("once it runs on, the intent is %s", state)
			}
		},
		"what is due on the way has happened with the answer": func(a *account) {
			id := a.create(chiliCrisp)
			a.setClock(`{"forward":60}`)
			if in := a.want(http.StatusOK, a.burst("GET", "/api/v1/checkout-intents/"+id, "")); in["state"] != "awaiting_confirmation" {
				a.Errorf("after a minute the intent is %v", in["state"])
			}
			a.setClock(`{"stopped":true,"forward":2700}`)
			if in := a.want(http.StatusOK, a.burst("GET", "/api/v1/checkout-intents/"+id, "")); in["state"] != "failed" {
				a.Errorf("after its window the intent is %v", in["state"])
			}
		},
		"a step of a clock that stands ends exactly there": func(a *account) {
			a.setClock(`{"stopped":true}`)
			id := a.create(chiliCrisp)
			for _, c := range []struct {
				forward, state string
			}{{"7.999", "retrieving_offer"}, {"0.001", "awaiting_confirmation"}, {"2691.999", "awaiting_confirmation"}, {"0.001", "failed"}} {
				a.setClock(`{"forward":` + c.forward + `}`)
				if state := a.state(id); state != c.state {
					a.Errorf("after %s more seconds it is %s, want %s", c.forward, state, c.state)
				}
			}
		},
		"a caller that has gone is not worked for": func(a *account) {
			gone, leave := context.WithCancel(a.Context())
			leave()
			ran := 0
			var again func(time.Time)
			again = func(at time.Time) {
				ran++
				a.sim.agenda.plan(at.Add(time.Second), again)
			}
			a.sim.mu.Lock()
			defer a.sim.mu.Unlock()
			again(a.sim.agenda.now())
			controlAPI{sim: a.sim}.setClock(&request{Request: httptest.NewRequestWithContext(gone, "PUT", "/control/clock", nil)}, clockChange{Forward: day.Seconds()})
			if ran < 2 || ran > 1<<11 {
				a.Errorf("%d of the day's 86,400 were due to it", ran)
			}
			a.sim.agenda.schedule = schedule[func(time.Time)]{}
		},
		"the limits of a second go by real time": func(a *account) {
			later(time.Second)
			a.setClock(`{"stopped":true}`)
			for round := range 3 {
				later(time.Second)
				for i := range 11 {
					if r := a.burst("GET", "/api/v1/shipments", ""); (r.status == http.StatusTooManyRequests) != (i == 10) {
						a.Errorf("round %d: request %d gets %d", round, i+1, r.status)
					}
				}
				if round == 1 {
					a.setClock(`{"stopped":false}`)
				}
			}
		},
		"a new day brings a new quota": func(a *account) {
			a.burst("PUT", "/control/buckets/checkout-intents", `{"remaining":0}`)
			a.want(http.StatusTooManyRequests, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
			a.setClock(`{"forward":86400}`)
			a.create(chiliCrisp)
		},
		"events bear its time, deliveries the time of the machine": func(a *account) {
			a.setClock(`{"forward":7200}`)
			id := a.soldOut()
			later(10 * time.Second)
			d := a.receiver.got(api.OfferFailed)[0]
			at, err := time.Parse(time.RFC3339, d.event["createdAt"].(string))
			if ahead := at.Sub(d.at); err != nil || ahead.Round(time.Minute) != 2*time.Hour {
				a.Errorf("the event of %s is %v ahead (%v)", id, ahead, err)
			}
			if sent := exact(d.header, "x-svc-timestamp")[0]; sent != fmt.Sprint(d.at.Unix()) {
				a.Errorf("sent at %s, received at %d", sent, d.at.Unix())
			}
		},
		"it is set to a time, but never back": func(a *account) {
			now := func() time.Time {
				at, err := time.Parse(time.RFC3339, a.want(http.StatusOK, a.burst("GET", "/control/clock", ""))["now"].(string))
				if err != nil {
					a.Fatal(err)
				}
				return at
			}
			goal := now().Add(90 * time.Minute)
			a.setClock(fmt.Sprintf(`{"stopped":true,"to":%q}`, goal.Format(time.RFC3339Nano)))
			if at := now(); !at.Equal(goal) {
				a.Errorf("it shows %v, want %v", at, goal)
			}
			a.setClock(fmt.Sprintf(`{"to":%q}`, goal.Format(time.RFC3339Nano)))
			for body, field := range map[string]string{
				fmt.Sprintf(`{"to":%q}`, goal.Add(-time.Second).Format(time.RFC3339)): "body.to",
				`{"forward":-1}`: "body.forward", `{"forward":1e9}`: "body.forward",
				`{"forward":1,"to":"2100-01-01T00:00:00Z"}`: "body", `{"to":"2999-01-01T00:00:00Z"}`: "body.to",
			} {
				if r := a.burst("PUT", "/control/clock", body); r.status != 422 || !strings.Contains(string(r.body), `"`+field+`"`) {
					a.Errorf("%s: %d %s, want 422 of %s", body, r.status, r.body, field)
				}
			}
		},
	}.run(t)
}

func TestASeedAndAClockThatStandsMakeTheSameRunByteForByte(t *testing.T) {
	play := func(begun time.Duration) (said string) {
		inBubble(t, func(c *Config) {
			time.Sleep(begun)
			c.Seed, c.History, c.Stopped, c.At = 42, 30, true, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		}, func(a *account) {
			id := a.create(chiliCrisp, drawdown)
			a.setClock(`{"forward":20}`)
			a.confirm(id)
			a.setClock(`{"forward":86400}`)
			a.want(http.StatusCreated, a.call("POST", "/control/events", `{"type":"product.updated"}`))
			later(time.Minute)
			var all []string
			for _, e := range a.sim.webhooks.events.items {
				b, err := json.Marshal(e.wire())
				if err != nil {
					a.Fatal(err)
				}
				all = append(all, string(b))
			}
			said = strings.Join(all, "\n") + fmt.Sprint(a.intent(id))
		})
		return said
	}
	first := play(0)
	if second := play(100 * time.Hour); first != second || strings.Count(first, "\n") < 60 {
		t.Errorf("two runs differ, or are short:\n%.400s\n%.400s", first, second)
	}
}
