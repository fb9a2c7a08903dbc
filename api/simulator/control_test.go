package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

func TestControlAPI(t *testing.T) {
	plainRows{
		"an intent with a chosen fate": func(a *account) {
			in := a.want(http.StatusCreated, a.call("POST", "/control/intents", `{"state":"placing_order","failure":"payment_failed","whilePlacing":true,"referenceId":"r-1"}`))
			if in["state"] != "placing_order" || in["referenceId"] != "r-1" {
				a.Errorf("the intent is %v", in)
			}
			later(15 * time.Second)
			if in := a.intent(in["id"].(string)); in["failureReason"].(map[string]any)["code"] != "payment_failed" {
				a.Errorf("it ended as %v", in)
			}
		},
		"each state at once": func(a *account) {
			for _, state := range api.IntentStates() {
				in := a.want(http.StatusCreated, a.call("POST", "/control/intents", fmt.Sprintf(`{"state":%q}`, state)))
				if in["state"] != string(state) {
					a.Errorf("it is %v, want %s", in["state"], state)
				}
			}
		},
		"an unknown key is refused": func(a *account) { a.want(422, a.call("POST", "/control/intents", `{"sate":"failed"}`)) },
		"a value of a wrong type is named": func(a *account) {
			fields := a.want(422, a.call("POST", "/control/intents", `{"state":7}`))["fields"].(map[string]any)
			if got := fmt.Sprint(fields); got != "map[body.state:map[message:invalid value of type number]]" {
				a.Errorf("the fields are %s", got)
			}
		},
		"a value of a wrong type in a fault is named by its field": func(a *account) {
			fields := a.want(422, a.call("POST", "/control/failures", `{"status":"x"}`))["fields"].(map[string]any)
			if got := fmt.Sprint(fields); got != "map[body.status:map[message:invalid value of type string]]" {
				a.Errorf("the fields are %s", got)
			}
		},
		"what is refused is told in its words": func(a *account) {
			id := a.want(201, a.call("POST", "/control/intents", `{"state":"awaiting_confirmation"}`))["id"].(string)
			for _, c := range []struct{ method, path, body, says string }{
				{"POST", "/control/intents", `{"quantity":1} {"quantity":2}`, "there is more after the JSON value"},
				{"POST", "/control/intents", `{"quantity":2147483648}`, "the quantity is 2147483648; it must be from 0 to 2147483647"},
				{"POST", "/control/intents", `{"offerAfter":1e300}`, "the time until offer is not from 0 to 365 days"},
				{"PUT", "/control/clock", `{"to":"noon"}`, `"noon" is not a time such as 2026-03-01T12:00:00Z`},
				{"PUT", "/control/clock", `{"forward":-1}`, "from 0 to 2678400 seconds, 31 days"},
				{"PUT", "/control/balance", ``, "'amountSubunits' is required"},
				{"PUT", "/control/balance", `{}`, "'amountSubunits' is required"},
				{"PUT", "/control/buckets/reads", `{"limit":-1,"remaining":0}`, "there is no limit"},
				{"POST", "/control/events", `{"type":"shipment.lost"}`, "must be one of checkout_intent.offer_retrieved, "},
				{"POST", "/control/events", `{"type":"shipment.lost"}`, " and webhook_endpoint.verification_challenge"},
				{"POST", "/control/events", `{"type":"checkout_intent.offer_failed","failure":"none"}`, "must be one of bot_protection_blocked, captcha_blocked, "},
				{"POST", "/control/intents/" + id + "/advance", `{"to":"failed"}`, "must be awaiting_confirmation, placing_order or completed; …/fail makes it fail"},
				{"POST", "/control/failures", `{"path":"api/v1/shipments"}`, "must begin with a slash"},
				{"POST", "/control/failures", `{"method":"get"}`, "must be in capitals"},
			} {
				if fields := fmt.Sprint(a.want(422, a.call(c.method, c.path, c.body))["fields"]); !strings.Contains(fields, c.says) {
					a.Errorf("%s %s %s: %s, want %q", c.method, c.path, c.body, fields, c.says)
				}
			}
			a.want(200, a.call("POST", "/control/intents/"+id+"/advance", `{"to":"placing_order"}`))
			a.want(409, a.call("POST", "/control/intents/"+id+"/fail", `{"failure":"checkout_intent_expired"}`))
			a.want(200, a.call("POST", "/control/intents/"+id+"/advance", ""))
			a.want(409, a.call("POST", "/control/intents/"+id+"/fail", `{"failure":"checkout_intent_expired"}`))
		},
		"failures that are ended strike no more": func(a *account) {
			a.want(200, a.call("POST", "/control/failures", `{"count":1000}`))
			a.want(200, a.call("POST", "/control/failures/end", ""))
			a.list("/api/v1/shipments")
		},
		"an unknown state is refused": func(a *account) {
			a.want(422, a.call("POST", "/control/intents", `{"state":"requires_action"}`))
			a.want(422, a.call("POST", "/control/intents", `{"failure":"bad_luck"}`))
		},
		"a shipment is advanced": func(a *account) {
			a.completed(chiliCrisp)
			later(15 * time.Second)
			id := a.list("/api/v1/shipments")[0]["id"].(string)
			if sh := a.want(http.StatusOK, a.burst("POST", "/control/shipments/"+id+"/advance", "")); sh["status"] != "shipped" && sh["status"] != "canceled" {
				a.Errorf("it is %v", sh["status"])
			}
		},
		"an intent expires": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			a.want(http.StatusOK, a.call("POST", "/control/intents/"+id+"/fail", `{"failure":"checkout_intent_expired"}`))
			if in := a.intent(id); in["state"] != "failed" {
				a.Errorf("it is %v", in["state"])
			}
		},
		"a placing ends": func(a *account) {
			for fate, want := range map[string]string{``: "completed", `,"failure":"payment_failed","whilePlacing":true`: "failed"} {
				id := a.want(http.StatusCreated, a.call("POST", "/control/intents", `{"state":"placing_order"`+fate+`}`))["id"].(string)
				if in := a.want(http.StatusOK, a.burst("POST", "/control/intents/"+id+"/advance", "")); in["state"] != want {
					a.Errorf("it is %v, want %s", in["state"], want)
				}
				a.want(http.StatusConflict, a.burst("POST", "/control/intents/"+id+"/advance", ""))
			}
			a.want(http.StatusNotFound, a.call("POST", "/control/intents/ci_none/advance", ""))
		},
		"the next requests fail": func(a *account) {
			a.want(http.StatusOK, a.call("POST", "/control/failures", `{"count":2,"status":503,"path":"/api/v1/shipments"}`))
			for _, want := range []int{503, 503, 200} {
				if r := a.call("GET", "/api/v1/shipments", ""); r.status != want {
					a.Errorf("status %d, want %d", r.status, want)
				}
			}
			a.want(422, a.call("POST", "/control/failures", `{"status":200}`))
		},
		"a bucket is set": func(a *account) {
			a.call("PUT", "/control/buckets/checkout-intents", `{"remaining":1}`)
			a.create(chiliCrisp)
			a.want(http.StatusTooManyRequests, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
			a.want(http.StatusNotFound, a.call("PUT", "/control/buckets/tea", `{"remaining":1}`))
			a.want(422, a.call("PUT", "/control/buckets/reads", `{"remaining":11}`))
		},
		"the state is summed up": func(a *account) {
			a.create(chiliCrisp)
			sum := a.want(http.StatusOK, a.call("GET", "/control/state", ""))
			if n := sum["intents"].(map[string]any)["retrieving_offer"]; n != 1.0 {
				a.Errorf("the summary is %v", sum)
			}
		},
		"it charges nothing": func(a *account) {
			later(time.Second)
			for range 30 {
				if r := a.burst("GET", "/control/state", ""); r.status != http.StatusOK || exact(r.header, "RateLimit") != nil {
					a.Fatalf("status %d, RateLimit %v", r.status, exact(r.header, "RateLimit"))
				}
			}
		},
	}.run(t)
}

func TestNoAnswerHoldsAKey(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		for _, path := range []string{"/control/state", "/api/v1/shipments", "/nothing"} {
			r := a.call("GET", path, "")
			all, err := json.Marshal(r.header)
			if err != nil {
				a.Fatal(err)
			}
			if text := string(all) + string(r.body); strings.Contains(text, testKey) || strings.Contains(text, testSecret) {
				a.Errorf("%s answers with a secret", path)
			}
		}
	})
}
