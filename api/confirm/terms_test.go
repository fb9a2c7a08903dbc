package confirm

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tillwatch/api"
)

// orders are the intents of the fixtures, as JSON, each with an offer. The offers and payments that stand alone there
// are put into one.
func orders(t *testing.T) (all []map[string]any) {
	t.Helper()
	var within map[string]any
	defer func() {
		for _, in := range all {
			if in["offer"] == nil {
				in["offer"] = within["offer"]
			}
		}
	}()
	for _, file := range []string{"01-checkout-intents.json", "02-failure-reasons.json", "03-offers-and-payments.json"} {
		raw, err := os.ReadFile(filepath.Join("..", "testdata", "fixtures", file))
		if err != nil {
			t.Fatal(err)
		}
		var set struct {
			Cases []struct {
				Schema string
				Body   map[string]any
			}
		}
		if err := json.Unmarshal(raw, &set); err != nil {
			t.Fatal(err)
		}
		for _, c := range set.Cases {
			switch c.Schema {
			case "Offer", "PaymentMethod":
				in := maps.Clone(within)
				in[map[string]string{"Offer": "offer", "PaymentMethod": "paymentMethod"}[c.Schema]] = c.Body
				all = append(all, in)
			default:
				if c.Body["state"] == "awaiting_confirmation" {
					within = c.Body
				}
				all = append(all, c.Body)
			}
		}
	}
	return all
}

// leaves calls do with the path of every value that is no object and no list, and a way to change it. An amount is one
// value. Of a list it takes the first item.
func leaves(path string, v any, set func(any), do func(path string, v any, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["amountSubunits"]; ok && len(v) == 2 {
			do(path, v, set)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			leaves(strings.TrimPrefix(path+"."+key, "."), v[key], func(to any) { v[key] = to }, do)
		}
	case []any:
		for i := range v {
			leaves(path, v[i], func(to any) { v[i] = to }, func(path string, of any, set func(any)) {
				if i == 0 || !strings.HasPrefix(path, "offer.shipping.availableOptions") {
					do(path, of, set)
				}
			})
		}
	default:
		do(path, v, set)
	}
}

// changed is another value of the same kind.
func changed(path string, v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasSuffix(path, "earliest") || strings.HasSuffix(path, "latest") {
			return "2027-01-01T00:00:00Z"
		}
		return "other-" + v
	case float64:
		return v + 1
	case bool:
		return !v
	case map[string]any:
		return map[string]any{"currencyCode": "EUR", "amountSubunits": v["amountSubunits"]}
	}
	panic(fmt.Sprintf("%s is a %T", path, v))
}

// what names the term that a field belongs to.
func what(field string) (names []string) {
	for _, t := range terms() {
		if slices.Contains(strings.Fields(t.fields), field) {
			names = append(names, t.what)
		}
	}
	return names
}

func TestEveryFieldOfAnIntentIsComparedOrNamedAsApart(t *testing.T) {
	seen := map[string]bool{}
	for _, order := range orders(t) {
		leaves("", order, nil, func(field string, v any, _ func(any)) {
			if field == "offer.shipping.availableOptions.deliveryEstimate" && v == nil {
				return // an object elsewhere
			}
			_, aside := apart()[field]
			if n := len(what(field)); !seen[field] && (n > 1 || aside == (n == 1)) {
				t.Errorf("%s stands in %d terms, apart %t: it must stand in one place", field, n, aside)
			}
			seen[field] = true
		})
	}
	for _, term := range terms() {
		for field := range strings.FieldsSeq(term.fields) {
			if !seen[field] && field != "offer.product.title" { // only one guide has it
				t.Errorf("%s: no fixture has %s", term.what, field)
			}
		}
	}
	for field := range apart() {
		if !seen[field] {
			t.Errorf("no fixture has %s", field)
		}
	}
}

func TestAChangeOfEveryFieldThatIsComparedIsFound(t *testing.T) {
	read := func(order map[string]any) *api.Intent {
		body, err := json.Marshal(order)
		if err != nil {
			t.Fatal(err)
		}
		in, err := api.DecodeIntent(body)
		if err != nil {
			t.Fatal(err)
		}
		in.State = api.AwaitingConfirmation
		return &in
	}
	found := map[string]bool{}
	for n, order := range orders(t) {
		before := read(order)
		p, err := Propose(before, api.Environment{Name: "staging"}, api.ConfirmWindow)
		if err != nil {
			continue // it has no offer
		}
		if d := p.differences(before); len(d) > 0 {
			t.Errorf("order %d differs from itself: %s", n, InWords(d))
		}
		leaves("", order, nil, func(field string, v any, set func(any)) {
			if v == nil || before.Offer.Selected() == nil && strings.Contains(field, "availableOptions") {
				return
			}
			set(changed(field, v))
			now, names := read(order), what(field)
			set(v)
			d := p.differences(now)
			is := func(name string) bool {
				return slices.ContainsFunc(d, func(d Difference) bool { return d.What == name })
			}
			if compared := len(names) > 0; compared && !is(names[0]) || !compared && len(d) > 0 {
				t.Errorf("order %d, %s changed: found %q, want %q", n, field, InWords(d), names)
			}
			for _, name := range names {
				found[name] = true
			}
		})
	}
	for _, term := range terms() {
		if !found[term.what] && term.what != "product" {
			t.Errorf("no order has any %s", term.what)
		}
	}
}

func TestNoDifferenceQuotesTheBuyerOrAToken(t *testing.T) {
	for n, order := range orders(t) {
		body, _ := json.Marshal(order)
		in, err := api.DecodeIntent(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range append(Proposal{seen: in}.differences(&api.Intent{}), Proposal{}.differences(&in)...) {
			for _, shown := range []string{d.Seen, d.Now} {
				token := in.Payment != nil && !in.Payment.Token.IsZero() && strings.Contains(shown, in.Payment.Token.Reveal())
				if token || in.Buyer.QuotedIn(api.Scrub(shown)) {
					t.Errorf("order %d, %s: it shows %q", n, d.What, shown)
				}
			}
		}
	}
}

// apart are the other fields of an intent, which are neither compared nor a part of what is bought, each with the
// reason.
func apart() map[string]string {
	const (
		found  = "how the offer was looked for; what was found is compared"
		earned = "what the seller earns; an estimate of it moves while the price stays"
		later  = "there is none while the intent awaits confirmation"
	)
	return map[string]string{
		"state":     "it must be awaiting_confirmation, whatever was seen",
		"createdAt": "the dialog shows when the window closes; nothing that is bought differs by it",

		"discoverPromoCodes": found, "constraints.offerRetrievalEffort": found,
		"offer.commission.amount": earned, "offer.commission.estimate": earned,
		"paymentMethod.network": "a stablecoin is paid in a later step, which names it again",

		"orderId": later, "estimatedDeliveryDate": later, "failureReason.code": later, "failureReason.message": later,
		"nextAction.type": later, "nextAction.x402.scheme": later, "nextAction.x402.network": later,
		"nextAction.x402.maxAmountRequired": later, "nextAction.x402.currency": later,
		"nextAction.x402.recipient": later, "nextAction.x402.expiresAt": later,
	}
}
