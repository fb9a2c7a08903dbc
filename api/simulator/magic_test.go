package simulator

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMagicSituations(t *testing.T) {
	// Each line: the situation, and what must be found in the intent after a minute.
	for name, want := range map[situation]string{
		soldOut:      `"code":"product_out_of_stock"`,
		unpublished:  `"code":"offer_retrieval_failed"`,
		manyVariants: `"code":"variant_selections_required"`,
		highValue:    `"subtotal":{"currencyCode":"USD","amountSubunits":999999}`,
		onSale:       `"discount":{"currencyCode":"USD"`,
		taxExempt:    `"tax":{"currencyCode":"USD","amountSubunits":0}`,
		digital:      `"shipping":{"availableOptions":[]}`,
		heavyweight:  `"shipping":{"currencyCode":"USD","amountSubunits":24999}`,
		slowOffer:    `"state":"retrieving_offer"`,
		neverOffered: `"state":"retrieving_offer"`,
		hostileText:  `\u001b]0;owned\u0007`,
		preorder:     `"state":"awaiting_confirmation"`,
		partialStock: `"code":"variant_selections_required"`,
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
					placing := kind.placing || query != ""
					if in := a.intent(id); placing || code == expired {
						if in["state"] != "awaiting_confirmation" {
							a.Fatalf("after the offer: %v", in["state"])
						}
					}
					if placing {
						a.confirm(id)
					}
					later(15 * time.Second)
					in := a.intent(id)
					if in["state"] != "failed" || in["failureReason"].(map[string]any)["code"] != string(code) || in["failureReason"].(map[string]any)["message"] == "" {
						a.Errorf("the intent is %v: %v", in["state"], in["failureReason"])
					}
				})
			})
		}
	}
}

func TestConstraintsAndPromoCodes(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		for more, want := range map[string]string{
			`"constraints":{"maxTotalPrice":1500}`:                              "constraint_total_price_exceeded",
			`"constraints":{"maxShippingPrice":100}`:                            "constraint_shipping_cost_exceeded",
			`"constraints":{"maxTotalPrice":1500},"promoCodes":["FREE_SHIP-7"]`: "constraint_total_price_exceeded",
		} {
			id := a.create(chiliCrisp, more)
			later(10 * time.Second)
			if in := a.intent(id); in["failureReason"].(map[string]any)["code"] != want {
				a.Errorf("%s: %v", more, in["failureReason"])
			}
		}
		id := a.create(chiliCrisp, `"promoCodes":["NONSENSE","WELCOME10","FREE_SHIP-7"],"constraints":{"maxTotalPrice":1600}`)
		later(10 * time.Second)
		offer := a.intent(id)["offer"].(map[string]any)
		if got := fmt.Sprint(offer["appliedPromoCodes"]); got != "[WELCOME10 FREE_SHIP-7]" {
			a.Errorf("applied %s", got)
		}
	})
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
