package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// soldOut makes an intent whose only event is that its offer failed, and returns its id.
func (a *account) soldOut() string {
	a.Helper()
	id, err := a.sim.CreateIntent(Order{ProductURL: magicURL("sold-out")})
	if err != nil {
		a.Fatal(err)
	}
	return id
}

// arrived lists the sources of the events of failed offers, in the order of arrival.
func (a *account) arrived() (ids []string) {
	for _, d := range a.receiver.got(api.OfferFailed) {
		ids = append(ids, d.event["source"].(map[string]any)["id"].(string))
	}
	return ids
}

func TestAFaultStrikesTheNextEvents(t *testing.T) {
	plainRows{
		"a lost event is never delivered, and the next is": func(a *account) {
			a.want(http.StatusCreated, a.call("POST", "/control/event-faults", `{"type":"checkout_intent.offer_failed","do":"lose"}`))
			a.soldOut()
			later(time.Minute)
			second := a.soldOut()
			later(10 * time.Second)
			if got := a.arrived(); !slices.Equal(got, []string{second}) {
				a.Errorf("arrived %v, want %s alone", got, second)
			}
			if lost := a.sim.Summary().Endpoints[0].Lost; lost != 1 {
				a.Errorf("%d are said to be lost", lost)
			}
		},
		"two events are doubled, with the same id": func(a *account) {
			a.want(http.StatusCreated, a.call("POST", "/control/event-faults", `{"do":"double","count":2}`))
			var want []string
			for _, times := range []int{2, 2, 1} {
				want = append(want, slices.Repeat([]string{a.soldOut()}, times)...)
				later(10 * time.Second)
			}
			if got := a.arrived(); !slices.Equal(got, want) {
				a.Errorf("arrived %v, want %v", got, want)
			}
		},
		"an event about one intent is late": func(a *account) {
			first, second := a.soldOut(), a.soldOut()
			a.want(http.StatusCreated, a.call("POST", "/control/event-faults", fmt.Sprintf(`{"type":"checkout_intent.*","source":%q,"do":"late","lateBy":30}`, first)))
			later(time.Minute)
			if got := a.arrived(); !slices.Equal(got, []string{second, first}) {
				a.Errorf("arrived %v, want %s first", got, second)
			}
			attempts := a.receiver.got(api.OfferFailed)
			if gap := attempts[1].at.Sub(attempts[0].at); gap != 30*time.Second {
				a.Errorf("it is late by %v", gap)
			}
		},
		"an event is overtaken by the next": func(a *account) {
			a.want(http.StatusCreated, a.call("POST", "/control/event-faults", `{"do":"reorder","lateBy":600}`))
			first := a.soldOut()
			later(time.Minute)
			second := a.soldOut()
			later(10 * time.Second)
			if got := a.arrived(); !slices.Equal(got, []string{second, first}) {
				a.Errorf("arrived %v, want %s first", got, second)
			}
		},
		"an event that nothing overtakes comes in the end": func(a *account) {
			a.want(http.StatusCreated, a.call("POST", "/control/event-faults", `{"do":"reorder"}`))
			id := a.soldOut()
			later(9 * time.Second)
			early := len(a.arrived())
			later(10 * time.Second)
			if got := a.arrived(); early != 0 || !slices.Equal(got, []string{id}) {
				a.Errorf("%d arrived at once, then %v", early, got)
			}
		},
		"what has not struck is listed and forgotten": func(a *account) {
			a.want(http.StatusCreated, a.call("POST", "/control/event-faults", `{"type":"shipment.*","do":"late","lateBy":2.5,"count":3}`))
			const listed = `[{"type":"shipment.*","source":"","do":"late","lateBy":2.5,"count":3}]`
			if got := string(a.burst("GET", "/control/event-faults", "").body); got != listed {
				a.Errorf("listed %s, want %s", got, listed)
			}
			for _, method := range []string{"DELETE", "GET"} {
				if got := string(a.burst(method, "/control/event-faults", "").body); got != "[]" {
					a.Errorf("%s answers %s", method, got)
				}
			}
		},
	}.run(t)
}

func TestAFaultThatCannotBeMeantIsRefused(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		for body, field := range map[string]string{
			`{}`: "body.do", `{"do":"eat"}`: "body.do", `{"do":"lose","type":"order.*"}`: "body.type",
			`{"do":"lose","type":"webhook_endpoint.verification_challenge"}`: "body.type",
			`{"do":"late","lateBy":-1}`:                                      "body.lateBy", `{"do":"late","lateBy":3601}`: "body.lateBy", `{"do":"lose","count":-1}`: "body.count",
			`{"do":"lose","count":0}`: "body.count", `{"do":"late","lateBy":0}`: "body.lateBy",
		} {
			if r := a.burst("POST", "/control/event-faults", body); r.status != 422 || !strings.Contains(string(r.body), `"`+field+`"`) {
				a.Errorf("%s: %d %s, want 422 of %s", body, r.status, r.body, field)
			}
		}
	})
}
