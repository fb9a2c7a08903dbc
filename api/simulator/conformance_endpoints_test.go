package simulator

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRetrieveEvent(t *testing.T) {
	rows{
		"200: an event": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			a.event(id, "awaiting_confirmation")
		},
		"200: an id with a colon, dots and an escaped slash": func(a *account) {
			e := a.happens(chiliCrisp, "product.updated")
			again := a.want(http.StatusOK, a.call("GET", "/api/v1/events/"+url.PathEscape(e["id"].(string)), ""))
			if again["id"] != e["id"] {
				a.Errorf("read %v, want %v", again["id"], e["id"])
			}
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/events/evt_a%2Fb", ""))
		},
		"401: authentication error body": func(a *account) {
			closed(a, "body", a.want(http.StatusUnauthorized, a.send("GET", "/api/v1/events/evt_x", "", "Bearer wrong")), []string{"name", "message"}, "stack")
		},
		"404: not-found error body": func(a *account) {
			closed(a, "body", a.want(http.StatusNotFound, a.call("GET", "/api/v1/events/evt_x", "")), []string{"name", "message"}, "stack")
		},
		"422: validation error body": func(a *account) {
			body := a.want(422, a.call("GET", "/api/v1/events/"+strings.Repeat("x", 513), ""))
			closed(a, "body", body, []string{"name", "message", "status", "fields"}, "stack")
		},
		"500: runtime error body": func(a *account) {
			a.want(http.StatusOK, a.call("POST", "/control/faults", `{"path":"/api/v1/events/"}`))
			closed(a, "body", a.want(http.StatusInternalServerError, a.call("GET", "/api/v1/events/evt_x", "")), []string{"name", "message"}, "stack")
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/events/evt_x", ""))
		},
		"the same event as was delivered": func(a *account) {
			a.completed(chiliCrisp)
			later(time.Minute)
			got := a.receiver.got()
			if len(got) < 5 {
				a.Fatalf("only %d deliveries", len(got))
			}
			for _, d := range got {
				r := a.call("GET", "/api/v1/events/"+url.PathEscape(d.event["id"].(string)), "")
				if string(r.body) != string(d.body) {
					a.Errorf("read %s, delivered %s", r.body, d.body)
				}
			}
		},
	}.run(t)
}

func TestOtherEndpoints(t *testing.T) {
	rows{
		"POST checkout-intents: creates an intent": func(a *account) {
			body := a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
			closed(a, "intent", body, []string{"id", "createdAt", "productUrl", "quantity", "buyer", "state"})
		},
		"POST purchase: creates an intent in one step": func(a *account) {
			body := a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents/purchase", orderJSON(chiliCrisp, drawdown)))
			later(time.Minute)
			if in := a.intent(body["id"].(string)); in["state"] != "completed" {
				a.Errorf("the intent is %v", in["state"])
			}
		},
		"POST confirm: submits the intent": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			if in := a.confirm(id); in["state"] != "placing_order" || in["id"] != id {
				a.Errorf("the intent is %v", in)
			}
		},
		"GET checkout-intents/{id}: the intent; 404 for another id": func(a *account) {
			id := a.create(chiliCrisp)
			closed(a, "intent", a.intent(id), []string{"id", "createdAt", "productUrl", "quantity", "buyer", "state"})
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/checkout-intents/ci_nothing", ""))
		},
		"POST confirm: 404 for an unknown intent": func(a *account) {
			a.want(http.StatusNotFound, a.call("POST", "/api/v1/checkout-intents/ci_nothing/confirm", "{}"))
		},
		"POST purchase: needs a payment": func(a *account) {
			body := a.want(422, a.call("POST", "/api/v1/checkout-intents/purchase", orderJSON(chiliCrisp)))
			if _, ok := body["fields"].(map[string]any)["body.paymentMethod"]; !ok {
				a.Errorf("fields are %v", body["fields"])
			}
		},
		"GET checkout-intents/{id}/shipments: those of one intent": func(a *account) {
			id := a.completed(magicURL("split-shipment"))
			a.completed(chiliCrisp)
			later(time.Minute)
			items := a.list("/api/v1/checkout-intents/" + id + "/shipments")
			if len(items) != 2 || items[0]["checkoutIntentId"] != id || items[1]["checkoutIntentId"] != id {
				a.Errorf("shipments: %v", items)
			}
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/checkout-intents/ci_nothing/shipments", ""))
		},
		"GET shipments/{id}: the shipment; 404 for another id": func(a *account) {
			a.completed(chiliCrisp)
			later(15 * time.Second)
			item := a.list("/api/v1/shipments")[0]
			again := a.want(http.StatusOK, a.call("GET", "/api/v1/shipments/"+item["id"].(string), ""))
			closed(a, "shipment", again, []string{"id", "checkoutIntentId", "marketplaceOrderId", "status", "createdAt", "updatedAt"})
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/shipments/shp_nothing", ""))
		},
		"GET shipments: ids and status keep some": func(a *account) {
			a.completed(chiliCrisp)
			canceled := a.completed(magicURL("canceled-shipping"))
			later(time.Minute)
			all := a.list("/api/v1/shipments")
			if len(all) != 2 {
				a.Fatalf("%d shipments, want 2", len(all))
			}
			one := a.want(http.StatusOK, a.call("GET", "/api/v1/shipments?status=canceled", ""))["data"].([]any)
			if len(one) != 1 || one[0].(map[string]any)["checkoutIntentId"] != canceled {
				a.Errorf("status=canceled: %v", one)
			}
			both := a.list(fmt.Sprintf("/api/v1/shipments?ids=%s&ids=%s", all[0]["id"], all[1]["id"]))
			if len(both) != 2 {
				a.Errorf("two ids: %d shipments", len(both))
			}
			if none := a.list(fmt.Sprintf("/api/v1/shipments?ids=%s,%s", all[0]["id"], all[1]["id"])); len(none) != 0 {
				a.Errorf("a comma list is one value, but found %d", len(none))
			}
			a.want(422, a.call("GET", "/api/v1/shipments?status=lost", ""))
		},
		"GET shipments: a limit outside 1 to 100 is refused": func(a *account) {
			a.want(422, a.call("GET", "/api/v1/shipments?limit=101", ""))
			for _, limit := range []string{"0", "101", "-1", "ten", ""} {
				body := a.want(422, a.call("GET", "/api/v1/shipments?limit="+limit, ""))
				if _, ok := body["fields"].(map[string]any)["limit"]; !ok {
					a.Errorf("limit=%s: fields are %v", limit, body["fields"])
				}
			}
		},
		"product lookup: 404 for what is not there": func(a *account) {
			for _, name := range []string{"unpublished", "product_not_found"} {
				a.want(http.StatusNotFound, a.call("GET", "/api/v1/products/lookup?url="+url.QueryEscape(magicURL(name)), ""))
			}
			a.happens(chiliCrisp, "product.removed")
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/products/lookup?url="+url.QueryEscape(chiliCrisp), ""))
		},
		"product lookup: 422 for what is no URL": func(a *account) {
			for _, query := range []string{"?url=", "?url=chili-crisp", "?url=ftp%3A%2F%2Fa.example%2Fb"} {
				a.want(422, a.call("GET", "/api/v1/products/lookup"+query, ""))
			}
			a.want(422, a.call("GET", "/api/v1/products/lookup", ""))
		},
		"lists that the contract does not show are not there": func(a *account) {
			for _, path := range []string{"/api/v1/checkout-intents", "/api/v1/events"} {
				closed(a, path, a.want(http.StatusNotFound, a.call("GET", path, "")), []string{"name", "message"}, "stack")
			}
		},
	}.run(t)
}

// Public material names further endpoints. The contract does not, whatever the
// switch of the lists says.
func TestWhatTheContractDoesNotShowIsNotThere(t *testing.T) {
	for name, lists := range map[string]bool{"lists absent": false, "lists served": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(c *Config) { c.Lists = lists }, func(a *account) {
				id := a.completed(chiliCrisp)
				for _, request := range []string{
					"GET orders", "GET orders/ord_1", "POST orders/ord_1/cancel", "PUT orders/ord_1/buyer", "GET checkout-intents/" + id + "/order",
					"GET billing/balance", "GET balance", "GET returns", "GET commissions", "GET brands", "GET merchants", "GET developer",
					"GET products", "GET products/subscriptions", "POST products/subscribe", "POST events/trigger", "GET webhook-endpoints",
					"POST test-helpers/checkout-intents/" + id + "/shipments/advance", "POST checkout-intents/" + id, "DELETE checkout-intents/" + id,
				} {
					method, path, _ := strings.Cut(request, " ")
					r := a.call(method, "/api/v1/"+path, "")
					if method == "POST" || method == "PUT" || method == "DELETE" {
						reports(a, request, r, `"default";q=5;w=1`, `"default";r=4;t=1`)
					} else {
						reports(a, request, r, `"default";q=10;w=1`, `"default";r=9;t=1`)
					}
					closed(a, request, a.want(http.StatusNotFound, r), []string{"name", "message"}, "stack")
				}
			})
		})
	}
}

// Every recorded request body is taken, as it was recorded.
func TestRecordedRequests(t *testing.T) {
	tried := 0
	for _, r := range recorded(t) {
		run := map[string]func(a *account){
			"CheckoutIntentPostParams": func(a *account) {
				a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents", string(r.Body)))
			},
			"CheckoutIntentPurchaseParams": func(a *account) {
				a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents/purchase", string(r.Body)))
			},
			"CheckoutIntentConfirmParams": func(a *account) {
				id := a.create(chiliCrisp)
				later(10 * time.Second)
				a.want(http.StatusOK, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", string(r.Body)))
			},
		}[r.Schema]
		if run != nil {
			tried++
			t.Run(r.Name, func(t *testing.T) { inBubble(t, nil, run) })
		}
	}
	if tried != 6 {
		t.Errorf("%d recorded requests, want 6", tried)
	}
}

func TestPagesOfShipments(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		for range 5 {
			a.given(`{"productUrl":"` + chiliCrisp + `","state":"completed"}`)
		}
		later(15 * time.Second)
		var all []string
		for _, item := range a.list("/api/v1/shipments") {
			all = append(all, item["id"].(string))
		}
		if len(all) != 5 {
			a.Fatalf("%d shipments, want 5", len(all))
		}
		page := func(query string) (ids []string, info map[string]any) {
			body := a.want(http.StatusOK, a.call("GET", "/api/v1/shipments?limit=2"+query, ""))
			closed(a, "page", body, []string{"pageInfo", "data"})
			for _, item := range body["data"].([]any) {
				ids = append(ids, item.(map[string]any)["id"].(string))
			}
			info = body["pageInfo"].(map[string]any)
			closed(a, "pageInfo", info, []string{"hasPreviousPage", "hasNextPage"}, "startCursor", "endCursor")
			return ids, info
		}
		check := func(what string, ids []string, info map[string]any, want []string, previous, next bool) {
			if !slices.Equal(ids, want) || info["hasPreviousPage"] != previous || info["hasNextPage"] != next {
				a.Errorf("%s: %v with %v, want %v", what, ids, info, want)
			}
		}
		ids, first := page("")
		check("first page", ids, first, all[:2], false, true)
		ids, second := page("&after=" + first["endCursor"].(string))
		check("second page", ids, second, all[2:4], true, true)
		ids, third := page("&after=" + second["endCursor"].(string))
		check("last page", ids, third, all[4:], true, false)
		ids, past := page("&after=" + third["endCursor"].(string))
		check("past the end", ids, past, nil, true, false)
		ids, back := page("&before=" + third["startCursor"].(string))
		check("back from the last page", ids, back, all[2:4], true, true)
		ids, start := page("&before=" + second["startCursor"].(string))
		check("back to the first page", ids, start, all[:2], false, true)
		a.want(422, a.call("GET", "/api/v1/shipments?after=nonsense", ""))
	})
}

func TestVersioning(t *testing.T) {
	rows{
		"the path prefix carries the version": func(a *account) {
			id := a.create(chiliCrisp)
			for _, prefix := range []string{"", "/api", "/api/v2", "/v1"} {
				a.want(http.StatusNotFound, a.call("GET", prefix+"/checkout-intents/"+id, ""))
			}
		},
		"the earlier interface is not here": func(a *account) {
			a.want(http.StatusNotFound, a.call("POST", "/graphql", `{"query":"{}"}`))
		},
	}.run(t)
}

func TestSwitchesOfWhatTheContractDoesNotShow(t *testing.T) {
	t.Run("lists served", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Lists = true }, func(a *account) {
			a.create(chiliCrisp)
			other := a.create(magicURL("sold-out"))
			later(10 * time.Second)
			if items := a.list("/api/v1/checkout-intents"); len(items) != 2 || items[0]["id"] != other {
				a.Errorf("intents: %v", items)
			}
			if items := a.list("/api/v1/events"); len(items) != 3 || items[0]["type"] != "checkout_intent.offer_failed" {
				a.Errorf("events: %v", items)
			}
		})
	})
	t.Run("lists served with filters", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Lists = true }, func(a *account) {
			id := a.create(chiliCrisp)
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			if items := a.list("/api/v1/checkout-intents?state=awaiting_confirmation&state=completed"); len(items) != 1 || items[0]["id"] != id {
				a.Errorf("by state: %v", items)
			}
			a.want(422, a.call("GET", "/api/v1/checkout-intents?state=requires_action", ""))
			if items := a.list("/api/v1/events?limit=1"); len(items) != 1 || items[0]["type"] != "checkout_intent.offer_failed" {
				a.Errorf("events: %v", items)
			}
		})
	})
	t.Run("a conflict names the state", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.StateConflicts, c.IgnoreIdempotencyKeys = true, true }, func(a *account) {
			id := a.completed(chiliCrisp)
			body := a.want(http.StatusConflict, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", "{}"))
			if body["state"] != "completed" || body["name"] != "InvalidCheckoutIntentStateError" {
				a.Errorf("body: %v", body)
			}
		})
	})
	t.Run("another lookup path", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.LookupPath = "/api/v1/product" }, func(a *account) {
			a.want(http.StatusOK, a.call("GET", "/api/v1/product?url="+url.QueryEscape(chiliCrisp), ""))
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/products/lookup?url="+url.QueryEscape(chiliCrisp), ""))
		})
	})
}
