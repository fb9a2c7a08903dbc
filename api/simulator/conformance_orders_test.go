package simulator

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	merinoCrew = "https://outfitters.example/products/merino-crew" // in 4 sizes and 3 colours
	offerTime  = 8 * time.Second
)

// buyerWith is a create whose buyer has another value in one field.
func buyerWith(productURL, old, new string) string {
	return strings.Replace(orderJSON(productURL), old, new, 1)
}

// offered waits for an intent's offer.
func (a *account) offered(what, id string) {
	a.Helper()
	later(10 * time.Second)
	if in := a.intent(id); in["state"] != "awaiting_confirmation" {
		a.Errorf("%s: the intent is %v, %v", what, in["state"], in["failureReason"])
	}
}

// What an order asks for is taken as the API takes it, and fails later where the
// merchant would refuse it.
func TestOrdersThatFailLater(t *testing.T) {
	created := func(a *account, body string) string {
		return a.want(http.StatusCreated, a.call("POST", "/api/v1/checkout-intents", body))["id"].(string)
	}
	rows{
		"an e-mail address that is none": func(a *account) {
			for _, text := range []string{"mara", "mara@", "@example.com", "mara@example", "mara okafor@example.com", "Mara <mara@example.com>", "mara@@example.com", "mara@example.com,b@example.com"} {
				a.fails(created(a, buyerWith(chiliCrisp, "mara.okafor@example.com", text)), "form_validation_error")
			}
		},
		"an e-mail address of every kind": func(a *account) {
			for _, text := range []string{"elodie+orders@example.org", "o'brien@mail.example.com", "m@ex-ample.co.uk"} {
				a.offered(text, created(a, buyerWith(chiliCrisp, "mara.okafor@example.com", text)))
			}
		},
		"a phone number that is none": func(a *account) {
			for _, text := range []string{"call me", "555-0142", "212-555-01423", "+44 20 7946 0958", "212-555-O142", "1", "++1 212-555-0142", "212555014２"} {
				a.fails(created(a, buyerWith(chiliCrisp, "212-555-0142", text)), "form_validation_error")
			}
		},
		"a phone number of every kind": func(a *account) {
			for _, text := range []string{"2125550142", "1234567890", "(212) 555-0142", "+1 212 555 0142", "1-212-555-0142", "212.555.0142"} {
				a.offered(text, created(a, buyerWith(chiliCrisp, "212-555-0142", text)))
			}
		},
		"a phone number that one merchant takes and another does not": func(a *account) {
			const strict = "https://big-store.example/dp/B0FAKE1234"
			a.fails(created(a, buyerWith(strict, "212-555-0142", "2125550142")), "form_validation_error")
			a.offered("with hyphens", created(a, orderJSON(strict)))
		},
		"no variant of a product that has some": func(a *account) {
			a.fails(a.create(merinoCrew), "variant_selections_required")
			a.fails(a.create(merinoCrew, `"variantSelections":[{"label":"Size","value":"M"}]`), "variant_selections_required")
			a.fails(a.create(magicURL("many-variants")), "variant_selections_required")
		},
		"a variant that does not exist": func(a *account) {
			for _, query := range []string{"4112", "4099", "-1", "9223372036854775807", "41038993227863", "moss"} {
				a.fails(a.create(merinoCrew+"?variant="+query), "variant_selections_invalid")
			}
			a.fails(a.create(merinoCrew, `"variantSelections":[{"label":"Size","value":"M"},{"label":"Color","value":"Puce"}]`), "variant_selections_invalid")
			a.fails(a.create(merinoCrew, `"variantSelections":[{"label":"Length","value":"Long"}]`), "variant_selections_invalid")
		},
		"a variant by deep link, by selections, by both": func(a *account) {
			a.offered("by deep link", a.create(merinoCrew+"?variant=4111"))
			a.offered("by selections", a.create(merinoCrew, `"variantSelections":[{"label":"Size","value":"m"},{"label":"Colour","value":"EMBER"}]`))
			a.offered("by both", a.create(merinoCrew+"?variant=4100", `"variantSelections":[{"label":"Size","value":"XL"}]`))
			a.offered("by selections beside a dead link", a.create(merinoCrew+"?variant=9", `"variantSelections":[{"label":"Size","value":"M"},{"label":"Color","value":"Moss"}]`))
		},
		"a variant that is sold out": func(a *account) {
			for value, code := range map[string]string{"S": "", "M": "product_out_of_stock", "L": "", "XL": "product_out_of_stock"} {
				id := a.create(magicURL("partial-stock"), fmt.Sprintf(`"variantSelections":[{"label":"Size","value":%q}]`, value))
				if code == "" {
					a.offered(value, id)
				} else {
					a.fails(id, code)
				}
			}
			a.fails(a.create(magicURL("partial-stock")+"?variant=4101"), "product_out_of_stock")
			a.fails(a.create(magicURL("partial-stock")+"?variant=4101", `"variantSelections":[{"label":"Size","value":"XL"}]`), "product_out_of_stock")
			a.offered("the selection wins", a.create(magicURL("partial-stock")+"?variant=4101", `"variantSelections":[{"label":"Size","value":"L"}]`))
		},
		"a variant of a product that has none is not looked at": func(a *account) {
			a.offered("a product of one kind", a.create(chiliCrisp+"?variant=41038993227863"))
			a.offered("a merchant that nobody has heard of", a.create("https://never.example/tea?variant=green", `"variantSelections":[{"label":"Size","value":"M"}]`))
		},
	}.run(t)
}

func TestOfferRetrievalEffort(t *testing.T) {
	const low, max = `"constraints":{"offerRetrievalEffort":"low"}`, `"constraints":{"offerRetrievalEffort":"max"}`
	rows{
		"low and max are echoed, and change nothing for a merchant that is quick": func(a *account) {
			for _, effort := range []string{low, max} {
				id := a.create(chiliCrisp, effort)
				a.offered(effort, id)
				if got := fmt.Sprintf(`"constraints":{"offerRetrievalEffort":%q}`, a.intent(id)["constraints"].(map[string]any)["offerRetrievalEffort"]); got != effort {
					a.Errorf("echoed %s of %s", got, effort)
				}
			}
		},
		"max, the default, waits for a merchant that is slow": func(a *account) {
			for _, more := range [][]string{nil, {max}, {`"constraints":{"maxTotalPrice":10000000}`}} {
				id := a.create(magicURL("slow-offer"), more...)
				later(10*offerTime - 5*time.Second)
				if in := a.intent(id); in["state"] != "retrieving_offer" {
					a.Errorf("%v: early it is %v", more, in["state"])
				}
				a.offered(fmt.Sprint(more), id)
			}
		},
		"low gives a merchant up that takes more than three times as long as usual": func(a *account) {
			for _, name := range []string{"slow-offer", "never-offered"} {
				id := a.create(magicURL(name), low)
				later(3*offerTime - 2*time.Second)
				if in := a.intent(id); in["state"] != "retrieving_offer" {
					a.Errorf("%s: early it is %v", name, in["state"])
				}
				a.fails(id, "offer_retrieval_failed")
			}
		},
	}.run(t)
	plainRows{
		"any other value is refused": func(a *account) {
			for _, value := range []string{`"medium"`, `"LOW"`, `""`, `7`, `true`, `["low"]`, `{}`} {
				body := a.want(422, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp, `"constraints":{"offerRetrievalEffort":`+value+`}`)))
				closed(a, value, body["fields"], []string{"body.constraints.offerRetrievalEffort"})
			}
			a.offered("null is none", a.create(chiliCrisp, `"constraints":{"offerRetrievalEffort":null}`))
		},
	}.run(t)
}
