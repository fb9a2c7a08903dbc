package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAuthentication(t *testing.T) {
	for name, given := range map[string]struct {
		header string
		status int
	}{
		"the key as Bearer":    {"Bearer " + testKey, http.StatusNotFound},
		"no header":            {"", http.StatusUnauthorized},
		"another key":          {"Bearer wrong", http.StatusUnauthorized},
		"the key alone":        {testKey, http.StatusUnauthorized},
		"Basic":                {"Basic " + testKey, http.StatusUnauthorized},
		"Bearer without a key": {"Bearer ", http.StatusUnauthorized},
		"a longer key":         {"Bearer " + testKey + "0", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				for _, path := range []string{"/api/v1/events/evt_x", "/api/v1/nothing", "/control/nothing"} {
					body := a.want(given.status, a.send("GET", path, "", given.header))
					closed(a, path, body, []string{"name", "message"}, "stack")
				}
			})
		})
	}
}

func TestErrorBodies(t *testing.T) {
	rows{
		"422: every missing field of an empty order": func(a *account) {
			body := a.want(422, a.call("POST", "/api/v1/checkout-intents", "{}"))
			closed(a, "body", body, []string{"name", "message", "status", "fields"}, "stack")
			if _, ok := body["status"].(float64); !ok {
				a.Errorf("status is %T", body["status"])
			}
			closed(a, "fields", body["fields"], []string{"body.productUrl", "body.quantity", "body.buyer"})
		},
		"422: a body that is no JSON": func(a *account) {
			for _, text := range []string{"{", "[]", `"text"`, "null", "7", "{}{}"} {
				body := a.want(422, a.call("POST", "/api/v1/checkout-intents", text))
				closed(a, "fields of "+text, body["fields"], []string{"body"})
			}
		},
		"422: a body that is too large": func(a *account) {
			a.want(422, a.call("POST", "/api/v1/checkout-intents", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`))
		},
		"404: an unknown path and an unclean one": func(a *account) {
			for _, path := range []string{"/", "/api", "/api/v1/", "/api/v1/shipments/", "/api//v1/events/x", "/api/v1/../v1/events/x", "/api/v1/./events/x"} {
				closed(a, path, a.want(http.StatusNotFound, a.call("GET", path, "")), []string{"name", "message"}, "stack")
			}
		},
	}.run(t)
	rows{
		"401: the key is not known": func(a *account) {
			body := a.want(http.StatusUnauthorized, a.send("GET", "/api/v1/shipments", "", "Bearer wrong"))
			closed(a, "body", body, []string{"name", "message"}, "stack")
		},
		"404: not found": func(a *account) {
			body := a.want(http.StatusNotFound, a.call("GET", "/api/v1/shipments/shp_x", ""))
			closed(a, "body", body, []string{"name", "message"}, "stack")
		},
		"422: refused fields with their values": func(a *account) {
			body := a.want(422, a.call("POST", "/api/v1/checkout-intents", orderJSON("not a url", `"referenceId":"`+strings.Repeat("x", 256)+`"`)))
			closed(a, "body", body, []string{"name", "message", "status", "fields"}, "stack")
			closed(a, "fields", body["fields"], []string{"body.productUrl", "body.referenceId"})
		},
		"429: a message": func(a *account) {
			a.want(http.StatusOK, a.call("POST", "/control/faults", `{"status":429}`))
			closed(a, "body", a.want(http.StatusTooManyRequests, a.burst("GET", "/api/v1/shipments", "")), []string{"message"})
		},
		"500: internal error": func(a *account) {
			a.want(http.StatusOK, a.call("POST", "/control/faults", "{}"))
			closed(a, "body", a.want(http.StatusInternalServerError, a.burst("GET", "/api/v1/shipments", "")), []string{"name", "message"}, "stack")
		},
		"500: injected after the request took effect": func(a *account) {
			id := a.create(chiliCrisp, drawdown)
			later(10 * time.Second)
			a.want(http.StatusOK, a.call("POST", "/control/faults", `{"method":"POST","after":true}`))
			a.want(http.StatusInternalServerError, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", ""))
			if in := a.intent(id); in["state"] != "placing_order" {
				a.Errorf("the intent is %v", in["state"])
			}
		},
	}.run(t)
}

func TestValidationByField(t *testing.T) {
	buyer := func(old, new string) string {
		return fmt.Sprintf(`{"productUrl":%q,"quantity":1,"buyer":%s}`, chiliCrisp, strings.Replace(buyerJSON, old, new, 1))
	}
	with := func(more string) string { return orderJSON(chiliCrisp, more) }
	for field, body := range map[string]string{
		"body.productUrl":                       orderJSON("not a url"),
		"body.quantity":                         strings.Replace(orderJSON(chiliCrisp), `"quantity":1`, `"quantity":-1`, 1),
		"body.buyer":                            fmt.Sprintf(`{"productUrl":%q,"quantity":1,"buyer":"me"}`, chiliCrisp),
		"body.buyer.country":                    buyer(`"country":"US"`, `"country":"us"`),
		"body.buyer.firstName":                  buyer(`"firstName":"Mara",`, ``),
		"body.buyer.email":                      buyer(`"mara.okafor@example.com"`, `null`),
		"body.buyer.city":                       buyer(`"Brooklyn"`, `"`+strings.Repeat("x", 256)+`"`),
		"body.buyer.phone":                      buyer(`"212-555-0142"`, `2125550142`),
		"body.referenceId":                      with(`"referenceId":"` + strings.Repeat("x", 256) + `"`),
		"body.variantSelections":                with(`"variantSelections":{}`),
		"body.variantSelections.$0.value":       with(`"variantSelections":[{"label":"Size","value":{}}]`),
		"body.constraints.maxTotalPrice":        with(`"constraints":{"maxTotalPrice":1.5}`),
		"body.constraints.offerRetrievalEffort": with(`"constraints":{"offerRetrievalEffort":7}`),
		"body.paymentMethod":                    with(`"paymentMethod":{"type":"cash"}`),
		"body.paymentMethod.vaultToken":         with(`"paymentMethod":{"type":"vault_token"}`),
		"body.paymentMethod.type":               with(`"paymentMethod":{}`),
	} {
		t.Run(field, func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				fields := a.want(422, a.call("POST", "/api/v1/checkout-intents", body))["fields"]
				closed(a, "fields", fields, []string{field})
				closed(a, "field", fields.(map[string]any)[field], []string{"message"}, "value")
			})
		})
	}
}

// Every recorded error of the contract is what the simulator says in its place.
func TestRecordedErrors(t *testing.T) {
	closedBodies := map[int][]string{401: {"name", "message"}, 404: {"name", "message"}, 422: {"name", "message", "status", "fields"}, 429: {"message"}, 500: {"name", "message"}}
	rows{
		"in the same shape": func(a *account) {
			for status, required := range closedBodies {
				a.want(http.StatusOK, a.call("POST", "/control/faults", fmt.Sprintf(`{"status":%d}`, status)))
				got := a.want(status, a.burst("GET", "/api/v1/shipments", ""))
				closed(a, "the answer", got, required)
				for _, r := range recorded(a) {
					if r.Status == status && json.Valid(r.Body) && r.Body[0] == '{' && r.Schema != "TooManyRequestsError" {
						closed(a, r.Name, decoded(a, r.Body), required, "stack")
					}
				}
			}
		},
	}.run(t)
}
