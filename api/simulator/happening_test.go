package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"tillwatch/api"
)

// file reads all about an intent.
func (a *account) file(id string) (intent map[string]any, types []string, orders int) {
	a.Helper()
	f := a.want(http.StatusOK, a.burst("GET", "/control/intents/"+id, ""))
	for _, e := range f["events"].([]any) {
		types = append(types, e.(map[string]any)["type"].(string))
	}
	return f["intent"].(map[string]any), types, int(f["orders"].(float64))
}

func TestEveryTypeOfEventHappensWhenItIsAskedFor(t *testing.T) {
	for _, kind := range api.EventTypes() {
		t.Run(string(kind), func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				e := a.want(http.StatusCreated, a.call("POST", "/control/events", fmt.Sprintf(`{"type":%q}`, kind)))
				later(time.Second)
				read := a.want(http.StatusOK, a.call("GET", "/api/v1/events/"+e["id"].(string), ""))
				if fmt.Sprint(read) != fmt.Sprint(e) || e["type"] != string(kind) {
					a.Errorf("the answer is %v, the service's event %v", e, read)
				}
				if !slices.ContainsFunc(a.receiver.got(kind), func(d attempt) bool { return d.event["id"] == e["id"] }) {
					a.Errorf("%v was not delivered", e["id"])
				}
			})
		})
	}
}

func TestWhatAnEventReportsHappensToTheSourceThatIsGiven(t *testing.T) {
	happen := func(a *account, body string, args ...any) map[string]any {
		return a.want(http.StatusCreated, a.burst("POST", "/control/events", fmt.Sprintf(body, args...)))
	}
	plainRows{
		"an intent goes its way, an event at a time": func(a *account) {
			id := a.create(chiliCrisp)
			happen(a, `{"type":"checkout_intent.offer_retrieved","source":%q}`, id)
			happen(a, `{"type":"checkout_intent.completed","source":%q}`, id)
			created := happen(a, `{"type":"shipment.created","source":%q}`, id)
			parcel := created["source"].(map[string]any)["id"]
			happen(a, `{"type":"shipment.updated","source":%q}`, parcel)
			in, types, orders := a.file(id)
			want := []string{"checkout_intent.offer_retrieved", "checkout_intent.completed", "shipment.created", "shipment.updated"}
			if in["state"] != "completed" || orders != 1 || !slices.Equal(types, want) {
				a.Errorf("it is %v after %v with %d orders", in["state"], types, orders)
			}
			later(10 * time.Second) // when the parcel would have been shipped by itself
			if n := len(a.list("/api/v1/checkout-intents/" + id + "/shipments")); n != 1 {
				a.Errorf("%d parcels", n)
			}
		},
		"it fails with the reason that is given": func(a *account) {
			for kind, reason := range map[string]string{"checkout_intent.offer_failed": "bot_protection_blocked", "checkout_intent.order_failed": "payment_failed"} {
				e := happen(a, `{"type":%q,"failure":%q,"referenceId":"order-7"}`, kind, reason)
				in, _, _ := a.file(e["source"].(map[string]any)["id"].(string))
				if in["failureReason"].(map[string]any)["code"] != reason || in["referenceId"] != "order-7" {
					a.Errorf("%s left %v", kind, in)
				}
			}
		},
		"what has happened happens no second time": func(a *account) {
			e := happen(a, `{"type":"checkout_intent.completed"}`)
			id := e["source"].(map[string]any)["id"]
			for _, kind := range []string{"offer_retrieved", "offer_failed", "completed", "order_failed"} {
				r := a.want(http.StatusConflict, a.burst("POST", "/control/events", fmt.Sprintf(`{"type":"checkout_intent.%s","source":%q}`, kind, id)))
				if r["state"] != "completed" {
					a.Errorf("%v", r)
				}
			}
		},
		"what cannot happen is refused": func(a *account) {
			for _, body := range []string{`{}`, `{"type":"checkout_intent.paid"}`, `{"type":"product.updated","failure":"payment_failed"}`,
				`{"type":"checkout_intent.completed","price":7}`, `{"type":"checkout_intent.order_failed","failure":"bad_luck"}`,
				`{"type":"checkout_intent.completed","source":"ci_1","referenceId":"r"}`, `{"type":"product.updated","availability":"gone"}`} {
				a.want(http.StatusUnprocessableEntity, a.burst("POST", "/control/events", body))
			}
			for _, kind := range []string{"checkout_intent.completed", "shipment.updated", "webhook_endpoint.verification_challenge"} {
				a.want(http.StatusNotFound, a.burst("POST", "/control/events", fmt.Sprintf(`{"type":%q,"source":"x_none"}`, kind)))
			}
		},
		"a reason strikes where the intent is": func(a *account) {
			for _, state := range []string{"retrieving_offer", "awaiting_confirmation", "placing_order"} {
				id := a.want(http.StatusCreated, a.burst("POST", "/control/intents", fmt.Sprintf(`{"state":%q}`, state)))["id"].(string)
				a.want(http.StatusOK, a.burst("POST", "/control/intents/"+id+"/fail", `{"failure":"payment_failed"}`))
				if state == "awaiting_confirmation" {
					a.want(http.StatusOK, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", "{}"))
					later(time.Minute)
				}
				in, types, _ := a.file(id)
				if in["state"] != "failed" || in["failureReason"].(map[string]any)["code"] != "payment_failed" {
					a.Errorf("from %s: %v after %v", state, in, types)
				}
				a.want(http.StatusConflict, a.burst("POST", "/control/intents/"+id+"/fail", `{"failure":"payment_failed"}`))
				a.want(http.StatusUnprocessableEntity, a.burst("POST", "/control/intents/"+id+"/fail", `{"failure":"bad_luck"}`))
			}
		},
	}.run(t)
}
