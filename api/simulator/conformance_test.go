package simulator

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// The conformance suite walks the contract section by section; each row of a
// table of the contract is a test.

type rows map[string]func(a *account)

func (r rows) run(t *testing.T) {
	for name, row := range r {
		t.Run(name, func(t *testing.T) { inBubble(t, nil, row) })
	}
}

func TestWhatTheServiceDoes(t *testing.T) {
	rows{
		"an intent maps to one product URL and one buyer": func(a *account) {
			in := a.intent(a.create(chiliCrisp))
			if in["productUrl"] != chiliCrisp || in["buyer"].(map[string]any)["city"] != "Brooklyn" {
				a.Errorf("the intent holds %v for %v", in["productUrl"], in["buyer"])
			}
		},
		"it works with any merchant": func(a *account) {
			id := a.completed("https://never-heard-of.example/things/blue-teapot")
			if title := a.intent(id)["offer"].(map[string]any)["product"].(map[string]any)["title"]; title != "Blue Teapot" {
				a.Errorf("the offer is for %v", title)
			}
		},
		"a variant is selected by a deep link": func(a *account) {
			id := a.create("https://outfitters.example/products/merino-crew?variant=4103", drawdown)
			later(10 * time.Second)
			if in := a.intent(id); in["state"] != "awaiting_confirmation" {
				a.Errorf("the intent is %v: %v", in["state"], in["failureReason"])
			}
		},
		"a variant is selected by variantSelections": func(a *account) {
			good := a.create("https://outfitters.example/products/merino-crew", `"variantSelections":[{"label":"Color","value":"moss"},{"label":"size","value":"XL"}]`)
			bad := a.create("https://outfitters.example/products/merino-crew", `"variantSelections":[{"label":"Size","value":"Giant"}]`)
			later(10 * time.Second)
			if in := a.intent(good); in["state"] != "awaiting_confirmation" {
				a.Errorf("a known value: the intent is %v", in["state"])
			}
			if in := a.intent(bad); in["failureReason"].(map[string]any)["code"] != "variant_selections_invalid" {
				a.Errorf("an unknown value: %v", in["failureReason"])
			}
		},
		"the lookup returns price, tax and shipping for a product URL": func(a *account) {
			product := a.want(http.StatusOK, a.call("GET", "/api/v1/products/lookup?url="+url.QueryEscape(chiliCrisp), ""))
			closed(a, "product", product, []string{"id", "name", "url", "brand", "retailer", "sku", "description", "availability", "isPurchasable", "price", "tax", "shipping", "images"})
			if price := product["price"].(map[string]any); price["amountSubunits"] != 1490.0 || price["currencyCode"] != "USD" {
				a.Errorf("the price is %v", price)
			}
			tax, shipping := product["tax"].(map[string]any), product["shipping"].(map[string]any)
			if tax["amountSubunits"].(float64) <= 0 || shipping["amountSubunits"] != 599.0 || shipping["currencyCode"] != "USD" {
				a.Errorf("tax %v, shipping %v", tax, shipping)
			}
		},
		"shipping is selected by the service": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			shipping := a.intent(id)["offer"].(map[string]any)["shipping"].(map[string]any)
			if first := shipping["availableOptions"].([]any)[0].(map[string]any); shipping["selectedOptionId"] != first["id"] || first["id"] == "" {
				a.Errorf("selected %v of %v", shipping["selectedOptionId"], shipping["availableOptions"])
			}
		},
		"intents are immutable": func(a *account) {
			id := a.create(chiliCrisp)
			for _, method := range []string{"PUT", "PATCH", "DELETE", "POST"} {
				body := a.want(http.StatusNotFound, a.call(method, "/api/v1/checkout-intents/"+id, orderJSON(magicURL("digital"))))
				closed(a, method, body, []string{"name", "message"}, "stack")
			}
			if in := a.intent(id); in["productUrl"] != chiliCrisp {
				a.Errorf("the intent changed: %v", in)
			}
		},
		"several intents make an order of several items": func(a *account) {
			first, second := a.create(chiliCrisp, `"referenceId":"order-1"`), a.create("https://lumen.example/p/desk-lamp", `"referenceId":"order-1"`)
			if first == second || a.intent(first)["referenceId"] != a.intent(second)["referenceId"] {
				a.Errorf("intents %s and %s", first, second)
			}
		},
	}.run(t)
	rows{
		"returns are not exposed": func(a *account) {
			a.want(http.StatusNotFound, a.call("GET", "/api/v1/returns", ""))
		},
	}.run(t)
}

// event reads the event of a source with a suffix.
func (a *account) event(source, suffix string) map[string]any {
	a.Helper()
	return a.want(http.StatusOK, a.call("GET", "/api/v1/events/"+url.PathEscape("evt_"+source+"_"+suffix), ""))
}

func TestEventResource(t *testing.T) {
	offered := func(a *account) (id string, event map[string]any) {
		id = a.create(chiliCrisp)
		later(10 * time.Second)
		return id, a.event(id, "awaiting_confirmation")
	}
	rows{
		"no properties but those listed": func(a *account) {
			_, e := offered(a)
			closed(a, "event", e, []string{"id", "object", "type", "createdAt", "source"})
			closed(a, "source", e["source"], []string{"id", "type"})
		},
		"id is evt_, the source's id, _ and a suffix": func(a *account) {
			id, e := offered(a)
			if e["id"] != "evt_"+id+"_awaiting_confirmation" {
				a.Errorf("id is %v", e["id"])
			}
		},
		"object is event": func(a *account) {
			if _, e := offered(a); e["object"] != "event" {
				a.Errorf("object is %v", e["object"])
			}
		},
		"type is an event type": func(a *account) {
			if _, e := offered(a); e["type"] != "checkout_intent.offer_retrieved" {
				a.Errorf("type is %v", e["type"])
			}
		},
		"createdAt is an ISO 8601 timestamp": func(a *account) {
			_, e := offered(a)
			if at, err := time.Parse("2006-01-02T15:04:05.000Z", e["createdAt"].(string)); err != nil || time.Since(at) > time.Minute {
				a.Errorf("createdAt is %v: %v", e["createdAt"], err)
			}
		},
		"source.id is that of the object, which is fetched by it": func(a *account) {
			id, e := offered(a)
			if in := a.intent(e["source"].(map[string]any)["id"].(string)); in["id"] != id {
				a.Errorf("source leads to %v", in)
			}
		},
		"source.type is the type of the object": func(a *account) {
			if _, e := offered(a); e["source"].(map[string]any)["type"] != "checkout_intent" {
				a.Errorf("source is %v", e["source"])
			}
		},
		"data is a snapshot in product.updated": func(a *account) {
			e := a.happens(chiliCrisp, "product.updated")
			closed(a, "event", e, []string{"id", "object", "type", "createdAt", "source", "data"})
			if e["data"].(map[string]any)["name"] != "Chili Crisp" {
				a.Errorf("data is %v", e["data"])
			}
			again := a.want(http.StatusOK, a.call("GET", "/api/v1/events/"+url.PathEscape(e["id"].(string)), ""))
			if !reflect.DeepEqual(again, e) {
				a.Errorf("read again: %v, want %v", again, e)
			}
		},
		"the keys are in order and compact": func(a *account) {
			id, _ := offered(a)
			r := a.call("GET", "/api/v1/events/evt_"+id+"_awaiting_confirmation", "")
			if !strings.HasPrefix(string(r.body), `{"id":"evt_`+id+`_awaiting_confirmation","object":"event","type":"checkout_intent.offer_retrieved","createdAt":"20`) ||
				!strings.HasSuffix(string(r.body), `","source":{"type":"checkout_intent","id":"`+id+`"}}`) {
				a.Errorf("the event is %s", r.body)
			}
		},
	}.run(t)
}

func TestEventTypesAndTheirSources(t *testing.T) {
	make := map[api.EventType]func(a *account){
		api.OfferRetrieved:  func(a *account) { a.create(chiliCrisp); later(10 * time.Second) },
		api.OfferFailed:     func(a *account) { a.create(magicURL("sold-out")); later(10 * time.Second) },
		api.IntentCompleted: func(a *account) { a.completed(chiliCrisp) },
		api.OrderFailed: func(a *account) {
			id := a.create(magicURL("payment_failed"), drawdown)
			later(10 * time.Second)
			a.confirm(id)
			later(15 * time.Second)
		},
		api.ShipmentCreated:       func(a *account) { a.completed(chiliCrisp); later(15 * time.Second) },
		api.ShipmentUpdated:       func(a *account) { a.completed(chiliCrisp); later(time.Minute) },
		api.ProductUpdated:        func(a *account) { a.happens(chiliCrisp, "product.updated") },
		api.ProductRemoved:        func(a *account) { a.happens(chiliCrisp, "product.removed") },
		api.VerificationChallenge: func(*account) {},
	}
	for kind, happen := range make {
		t.Run(string(kind), func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				happen(a)
				later(time.Second)
				got := a.receiver.got(kind)
				if len(got) == 0 {
					a.Fatalf("no %s was delivered", kind)
				}
				read := a.want(http.StatusOK, a.call("GET", "/api/v1/events/"+url.PathEscape(got[0].event["id"].(string)), ""))
				if !reflect.DeepEqual(read, got[0].event) {
					a.Errorf("read %v, delivered %v", read, got[0].event)
				}
				group, _, _ := strings.Cut(string(kind), ".")
				if source := got[0].event["source"].(map[string]any); source["type"] != group {
					a.Errorf("the source's type is %v, want %s", source["type"], group)
				}
				if _, has := got[0].event["data"]; has != (kind == api.ProductUpdated) {
					a.Errorf("data present: %v", has)
				}
			})
		})
	}
}

func TestOtherResources(t *testing.T) {
	rows{
		"an intent carries a state": func(a *account) {
			if in := a.intent(a.create(chiliCrisp)); in["state"] != "retrieving_offer" {
				a.Errorf("state is %v", in["state"])
			}
		},
		"a completed intent carries the merchant's order id": func(a *account) {
			if in := a.intent(a.completed(chiliCrisp)); !strings.HasPrefix(in["orderId"].(string), "SL-") {
				a.Errorf("orderId is %v", in["orderId"])
			}
		},
		"a payment provider is chosen at creation": func(a *account) {
			id := a.create(chiliCrisp, `"paymentMethod":{"type":"vault_token","vaultToken":"23bdad79-0d0a-40fb-b979-8332aabd7285"}`)
			later(10 * time.Second)
			a.want(http.StatusOK, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", ""))
			if p := a.intent(id)["paymentMethod"].(map[string]any); p["type"] != "vault_token" {
				a.Errorf("paymentMethod is %v", p)
			}
		},
		"a payment provider is chosen at the confirm": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			if in := a.confirm(id); in["paymentMethod"].(map[string]any)["type"] != "drawdown" {
				a.Errorf("paymentMethod is %v", in["paymentMethod"])
			}
		},
		"no payment at all is refused at the confirm": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			body := a.want(422, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", "{}"))
			if _, ok := body["fields"].(map[string]any)["body.paymentMethod"]; !ok {
				a.Errorf("fields are %v", body["fields"])
			}
			if in := a.intent(id); in["state"] != "awaiting_confirmation" {
				a.Errorf("the intent is %v", in["state"])
			}
		},
		"a kind of payment that the contract does not name is refused": func(a *account) {
			a.want(422, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp, `"paymentMethod":{"type":"x402"}`)))
		},
	}.run(t)
}

func TestStatesAndTransitions(t *testing.T) {
	rows{
		"new: a created intent is retrieving its offer": func(a *account) {
			body := a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
			if body["state"] != "retrieving_offer" || body["offer"] != nil {
				a.Errorf("the new intent is %v with offer %v", body["state"], body["offer"])
			}
			if got := a.receiver.about(body["id"].(string)); len(got) > 0 {
				a.Errorf("events of a new intent: %v", got)
			}
		},
		"retrieving_offer to awaiting_confirmation, with offer_retrieved": func(a *account) {
			id := a.create(chiliCrisp)
			later(7 * time.Second)
			if in := a.want(http.StatusOK, a.burst("GET", "/api/v1/checkout-intents/"+id, "")); in["state"] != "retrieving_offer" {
				a.Errorf("after 7 s: %v", in["state"])
			}
			later(time.Second)
			in := a.intent(id)
			if in["state"] != "awaiting_confirmation" || in["offer"] == nil {
				a.Errorf("after 8 s: %v", in)
			}
			if got := a.receiver.about(id); !slices.Equal(got, []string{"checkout_intent.offer_retrieved"}) {
				a.Errorf("events: %v", got)
			}
		},
		"awaiting_confirmation to placing_order by a confirm, without an event": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			if in := a.confirm(id); in["state"] != "placing_order" {
				a.Errorf("confirmed: %v", in["state"])
			}
			later(5 * time.Second)
			if got := a.receiver.about(id); len(got) != 1 {
				a.Errorf("events: %v", got)
			}
		},
		"placing_order to completed, with completed": func(a *account) {
			id := a.completed(chiliCrisp)
			if got := a.receiver.about(id); !slices.Equal(got, []string{"checkout_intent.offer_retrieved", "checkout_intent.completed"}) {
				a.Errorf("events: %v", got)
			}
		},
		"placing_order to failed, with order_failed": func(a *account) {
			id := a.create(magicURL("order_placement_failed"), drawdown)
			later(10 * time.Second)
			a.confirm(id)
			later(15 * time.Second)
			in := a.intent(id)
			if in["state"] != "failed" || in["failureReason"].(map[string]any)["code"] != "order_placement_failed" || in["orderId"] != nil {
				a.Errorf("the intent is %v", in)
			}
			if got := a.receiver.about(id); !slices.Equal(got, []string{"checkout_intent.offer_retrieved", "checkout_intent.order_failed"}) {
				a.Errorf("events: %v", got)
			}
		},
		"retrieving_offer to failed, with offer_failed": func(a *account) {
			id := a.create(magicURL("bot_protection_blocked"))
			later(10 * time.Second)
			in := a.intent(id)
			if in["state"] != "failed" || in["offer"] != nil {
				a.Errorf("the intent is %v", in)
			}
			if got := a.receiver.about(id); !slices.Equal(got, []string{"checkout_intent.offer_failed"}) {
				a.Errorf("events: %v", got)
			}
		},
		"awaiting_confirmation to failed 45 minutes after createdAt, without an event": func(a *account) {
			id := a.create(chiliCrisp)
			later(45*time.Minute - 2*time.Second)
			if in := a.intent(id); in["state"] != "awaiting_confirmation" {
				a.Errorf("a second before: %v", in["state"])
			}
			later(time.Second)
			in := a.intent(id)
			if in["state"] != "failed" || in["failureReason"].(map[string]any)["code"] != "checkout_intent_expired" {
				a.Errorf("after 45 minutes: %v", in)
			}
			if got := a.receiver.about(id); len(got) != 1 {
				a.Errorf("events: %v", got)
			}
		},
		"a purchase does not stop at awaiting_confirmation": func(a *account) {
			body := a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents/purchase", orderJSON(chiliCrisp, drawdown)))
			id := body["id"].(string)
			later(10 * time.Second)
			if in := a.intent(id); in["state"] != "placing_order" {
				a.Errorf("after the offer: %v", in["state"])
			}
			later(15 * time.Second)
			if got := a.receiver.about(id); !slices.Equal(got, []string{"checkout_intent.completed"}) {
				a.Errorf("events: %v", got)
			}
		},
	}.run(t)
}

// The client sends every confirm of an intent under one Idempotency-Key, which the
// contract does not show: here the service looks at the state alone.
func TestAConfirmInAnyOtherStateChangesNothing(t *testing.T) {
	inBubble(t, func(c *Config) { c.IgnoreIdempotencyKeys = true }, func(a *account) {
		id := a.create(magicURL("slow-offer"), drawdown)
		a.want(http.StatusNotFound, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", ""))
		done := a.completed(chiliCrisp)
		a.want(http.StatusNotFound, a.call("POST", "/api/v1/checkout-intents/"+done+"/confirm", ""))
		if in := a.intent(id); in["state"] != "retrieving_offer" {
			a.Errorf("the early one is %v", in["state"])
		}
		if in := a.intent(done); in["state"] != "completed" {
			a.Errorf("the late one is %v", in["state"])
		}
	})
}
