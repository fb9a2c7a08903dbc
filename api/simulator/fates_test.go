package simulator

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	merinoCrew = "https://outfitters.example/products/merino-crew" // in 4 sizes and 3 colours
	offerTime  = 8 * time.Second
)

// offered waits for an intent's offer.
func (a *account) offered(what, id string) {
	a.Helper()
	later(10 * time.Second)
	if in := a.intent(id); in["state"] != "awaiting_confirmation" {
		a.Errorf("%s: the intent is %v, %v", what, in["state"], in["failureReason"])
	}
}

func TestMagicSituations(t *testing.T) {
	// Each line: the situation, and what must be found in the intent after a minute.
	for name, want := range map[situation]string{
		soldOut:      `"code":"product_out_of_stock"`,
		unpublished:  `"code":"offer_retrieval_failed"`,
		digital:      `"shipping":{"availableOptions":[]}`,
		slowOffer:    `"state":"retrieving_offer"`,
		neverOffered: `"state":"retrieving_offer"`,
		hostileText:  `\u001b]0;owned\u0007`,
	} {
		t.Run(string(name), func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				id := a.create(magicURL(string(name)))
				later(time.Minute)
				if r := a.call("GET", "/api/v1/checkout-intents/"+id, ""); !bytes.Contains(r.body, []byte(want)) {
					a.Errorf("the intent lacks %s: %s", want, r.body)
				}
			})
		})
	}
	for name, want := range map[situation]string{
		delayedShipping:  `"status":"delayed"`,
		canceledShipping: `"status":"canceled"`,
		noTracking:       `"number":null,"url":null,"deliveryDate":null`,
	} {
		t.Run(string(name), func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				id := a.completed(magicURL(string(name)))
				later(10 * time.Minute)
				if r := a.call("GET", "/api/v1/checkout-intents/"+id+"/shipments", ""); !bytes.Contains(r.body, []byte(want)) {
					a.Errorf("the shipments lack %s: %s", want, r.body)
				}
			})
		})
	}
}

func TestMagicFailureCodes(t *testing.T) {
	for code, kind := range failureKinds() {
		for _, query := range []string{"", "?while=placing"} {
			t.Run(string(code)+query, func(t *testing.T) {
				inBubble(t, nil, func(a *account) {
					id := a.create(magicURL(string(code))+query, drawdown)
					later(10 * time.Second)
					placing := kind.Placing || query != ""
					if in := a.intent(id); (placing || code == expired) && in["state"] != "awaiting_confirmation" {
						a.Fatalf("after the offer: %v", in["state"])
					}
					if placing {
						a.confirm(id)
					}
					later(15 * time.Second)
					in := a.intent(id)
					reason, _ := in["failureReason"].(map[string]any)
					if in["state"] != "failed" || reason["code"] != string(code) || reason["message"] == "" {
						a.Errorf("the intent is %v: %v", in["state"], reason)
					}
				})
			})
		}
	}
}

// What an order asks for is taken as the API takes it, and fails later where the merchant would refuse it.
func TestOrdersThatFailLater(t *testing.T) {
	selected := func(pairs ...string) string {
		var all []string
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, fmt.Sprintf(`{"label":%q,"value":%q}`, pairs[i], pairs[i+1]))
		}
		return `"variantSelections":[` + strings.Join(all, ",") + `]`
	}
	limited := func(what string) string { return `"constraints":{` + what + `}` }
	for name, c := range map[string]struct{ product, more, code string }{
		"no variant":                  {merinoCrew, limited(""), "variant_selections_required"},
		"one option of two":           {merinoCrew, selected("Size", "M"), "variant_selections_required"},
		"a value that does not exist": {merinoCrew, selected("Size", "M", "Color", "Puce"), "variant_selections_invalid"},
		"an option that does not":     {merinoCrew, selected("Length", "Long"), "variant_selections_invalid"},
		"a variant":                   {merinoCrew, selected("size", "m", "Color", "EMBER"), ""},
		"a variant by the URL":        {merinoCrew + "?variant=41038993227863", limited(""), ""},
		"of a product that has none":  {chiliCrisp, selected("Size", "M"), ""},
		"too dear":                    {chiliCrisp, limited(`"maxTotalPrice":1500`), "constraint_total_price_exceeded"},
		"shipping too dear":           {chiliCrisp, limited(`"maxShippingPrice":100`), "constraint_shipping_cost_exceeded"},
		"not too dear":                {chiliCrisp, limited(`"maxTotalPrice":10000000`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				if id := a.create(c.product, c.more); c.code == "" {
					a.offered(name, id)
				} else {
					a.fails(id, c.code)
				}
			})
		})
	}
	rows{
		"a slow merchant takes ten times as long": func(a *account) {
			id := a.create(magicURL("slow-offer"))
			later(10*offerTime - 5*time.Second)
			a.offered("a slow merchant", id)
		},
	}.run(t)
}

func TestShipmentsMoveThroughTheirStatuses(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		id := a.completed(magicURL("delayed-shipping"))
		var statuses []string
		for range 120 {
			later(3 * time.Second)
			for _, sh := range a.list("/api/v1/checkout-intents/" + id + "/shipments") {
				if status := sh["status"].(string); len(statuses) == 0 || statuses[len(statuses)-1] != status {
					statuses = append(statuses, status)
				}
				required := []string{"id", "checkoutIntentId", "marketplaceOrderId", "status", "createdAt", "updatedAt"}
				switch sh["status"] {
				case "ordered", "canceled":
				case "delivered":
					required = append(required, "deliveredAt")
					fallthrough
				default:
					required = append(required, "externalId", "shippedAt", "tracking", "trackingEvents")
				}
				closed(a, sh["status"].(string), sh, required)
			}
		}
		if got := strings.Join(statuses, " "); got != "ordered shipped delayed out_for_delivery delivered" {
			a.Errorf("statuses: %s", got)
		}
	})
}
