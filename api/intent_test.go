package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestEveryFixtureIntentDecodes(t *testing.T) {
	for _, file := range []string{"01-checkout-intents.json", "02-failure-reasons.json"} {
		for _, f := range fixtures(t, file) {
			t.Run(f.Name, func(t *testing.T) {
				got, err := DecodeIntent(f.Body)
				if err != nil {
					t.Fatal(err)
				}
				compareIntent(t, &got, oracle[wireIntent](t, f.Body))
				if !bytes.Equal(got.Raw, f.Body) {
					t.Error("Raw is not the exact body")
				}
			})
		}
	}
}

func compareIntent(t *testing.T, got *Intent, want wireIntent) {
	t.Helper()
	same(t, "id", string(got.ID), want.ID)
	same(t, "state", string(got.State), want.State)
	same(t, "product URL", string(got.ProductURL), want.ProductURL)
	same(t, "reference id", string(got.ReferenceID), want.ReferenceID)
	same(t, "created", got.CreatedAt, want.CreatedAt)
	same(t, "quantity", got.Quantity, want.Quantity)
	if want.Buyer == nil || got.Buyer == nil {
		t.Fatal("a buyer is missing")
	}
	b := want.Buyer
	same(t, "buyer", *got.Buyer == Buyer{
		FirstName: Text(b.FirstName), LastName: Text(b.LastName), Email: Text(b.Email), Phone: Text(b.Phone),
		Address1: Text(b.Address1), Address2: Text(b.Address2), City: Text(b.City), Province: Text(b.Province),
		PostalCode: Text(b.PostalCode), Country: Text(b.Country),
	}, true)
	same(t, "promo codes", fmt.Sprint(got.PromoCodes), fmt.Sprint(want.PromoCodes))
	same(t, "variant selections", fmt.Sprint(got.Variants), fmt.Sprint(want.VariantSelections))
	same(t, "constraints", got.Constraints != nil, want.Constraints != nil)
	if c := want.Constraints; c != nil {
		same(t, "constraints", jsonOf(t, got.Constraints), jsonOf(t, c))
	}
	compareOffer(t, got.Offer, want.Offer)
	same(t, "payment", got.Payment != nil, want.PaymentMethod != nil)
	if p := want.PaymentMethod; p != nil {
		same(t, "payment type", string(got.Payment.Type), p.Type)
		same(t, "payment token", got.Payment.Token.Reveal(), p.VaultToken)
	}
	same(t, "failure", got.Failure != nil, want.FailureReason != nil)
	if r := want.FailureReason; r != nil {
		same(t, "failure", *got.Failure, FailureReason{FailureCode(r.Code), Text(r.Message)})
	}
	if want.OrderID != nil {
		same(t, "order ids", fmt.Sprint(got.OrderIDs), "["+*want.OrderID+"]")
	} else {
		same(t, "order ids", len(got.OrderIDs), 0)
	}
}

func compareOffer(t *testing.T, got *Offer, want *wireOffer) {
	t.Helper()
	if got == nil || want == nil {
		same(t, "offer", got != nil, want != nil)
		return
	}
	for _, m := range []struct {
		what string
		got  *Money
		want *wireMoney
	}{
		{"subtotal", got.Cost.Subtotal, want.Cost.Subtotal}, {"shipping", got.Cost.Shipping, want.Cost.Shipping},
		{"tax", got.Cost.Tax, want.Cost.Tax}, {"discount", got.Cost.Discount, want.Cost.Discount},
		{"surcharge", got.Cost.Surcharge, want.Cost.Surcharge}, {"total", got.Cost.Total, want.Cost.Total},
	} {
		if !m.want.matches(m.got) {
			t.Errorf("%s: got %v, want %v", m.what, m.got, m.want)
		}
	}
	same(t, "selected option", string(got.SelectedOptionID), want.Shipping.SelectedOptionID)
	same(t, "applied promo codes", fmt.Sprint(got.AppliedPromoCodes), fmt.Sprint(want.AppliedPromoCodes))
	same(t, "commission", got.Commission != nil, want.Commission != nil)
	if want.Commission != nil && !want.Commission.Amount.matches(&got.Commission.Amount) {
		t.Errorf("commission: got %v, want %v", got.Commission.Amount, want.Commission.Amount)
	}
	same(t, "options", len(got.ShippingOptions), len(want.Shipping.AvailableOptions))
	for i, option := range want.Shipping.AvailableOptions {
		o := got.ShippingOptions[i]
		same(t, "option id", string(o.ID), option.ID)
		if !option.Cost.matches(o.Cost) || !option.Discount.matches(o.Discount) {
			t.Errorf("option %s: got %v and %v", option.ID, o.Cost, o.Discount)
		}
		var earliest, latest time.Time
		if option.DeliveryEstimate != nil {
			earliest, latest = option.DeliveryEstimate.Earliest, option.DeliveryEstimate.Latest
		}
		same(t, "earliest", o.EarliestDelivery, earliest)
		same(t, "latest", o.LatestDelivery, latest)
	}
}

func TestEveryFixtureOfferAndPaymentDecodes(t *testing.T) {
	for _, f := range fixtures(t, "03-offers-and-payments.json") {
		t.Run(f.Name, func(t *testing.T) {
			field := map[string]string{"Offer": "offer", "PaymentMethod": "paymentMethod"}[f.Schema]
			got, err := DecodeIntent(fmt.Appendf(nil, `{"id":"ci_1",%q:%s}`, field, f.Body))
			if err != nil {
				t.Fatal(err)
			}
			if f.Schema == "PaymentMethod" {
				want := oracle[struct{ Type, VaultToken string }](t, f.Body)
				same(t, "type", string(got.Payment.Type), want.Type)
				same(t, "token", got.Payment.Token.Reveal(), want.VaultToken)
				return
			}
			want := oracle[wireOffer](t, f.Body)
			compareOffer(t, got.Offer, &want)
		})
	}
}

func TestIntentToleratesWhatTheContractDoesNotPromise(t *testing.T) {
	tests := []struct {
		name, fields string
		check        func(*Intent) any
		want         any
	}{
		{"an unknown state", `"state":"requires_action"`, func(i *Intent) any { return i.State }, IntentState("requires_action")},
		{"a state that would draw", `"state":"fai\u001b[31mled"`, func(i *Intent) any { return i.State }, IntentState("fai[31mled")},
		{"no state", `"x":1`, func(i *Intent) any { return i.State }, IntentState("")},
		{"a state of another type", `"state":7`, func(i *Intent) any { return i.State }, IntentState("")},
		{"null everywhere", `"offer":null,"buyer":null,"paymentMethod":null,"failureReason":null,"orderId":null,"createdAt":null,"constraints":null,"quantity":null`,
			func(i *Intent) any {
				return i.Offer == nil && i.Buyer == nil && i.Payment == nil && i.Failure == nil && i.OrderIDs == nil && i.CreatedAt.IsZero() && i.Constraints == nil
			}, true},
		{"wrong types everywhere", `"offer":"x","buyer":[1],"paymentMethod":3,"failureReason":[],"orderId":{},"createdAt":5,"constraints":"x","quantity":{},"promoCodes":"a","variantSelections":{"a":1},"productUrl":[]`,
			func(i *Intent) any {
				return i.Offer == nil && i.Buyer == nil && i.Payment == nil && i.Failure == nil && i.OrderIDs == nil && i.CreatedAt.IsZero() &&
					i.Constraints == nil && i.Quantity == 0 && i.PromoCodes == nil && i.Variants == nil && i.ProductURL == ""
			}, true},
		{"wrong types within an offer", `"offer":{"cost":[],"shipping":{"availableOptions":[1,null,{"id":3,"cost":"x","deliveryEstimate":"soon"}],"selectedOptionId":3},"product":4,"appliedPromoCodes":[null,"A"]}`,
			func(i *Intent) any {
				return fmt.Sprintf("%v %d %s %s", i.Offer.Cost.Total, len(i.Offer.ShippingOptions), i.Offer.Selected().ID, i.Offer.AppliedPromoCodes)
			}, "<nil> 1 3 [A]"},
		{"quantity as a float", `"quantity":2.0`, func(i *Intent) any { return i.Quantity }, 2},
		{"quantity as a string", `"quantity":"2"`, func(i *Intent) any { return i.Quantity }, 2},
		{"a negative quantity", `"quantity":-2`, func(i *Intent) any { return i.Quantity }, 0},
		{"an absurd quantity", `"quantity":1e30`, func(i *Intent) any { return i.Quantity }, 0},
		{"a failure reason that is a code", `"failureReason":"payment_failed"`, func(i *Intent) any { return *i.Failure }, FailureReason{Code: "payment_failed"}},
		{"a failure reason that is a sentence", `"failureReason":"It broke."`, func(i *Intent) any { return *i.Failure }, FailureReason{Code: "unknown", Message: "It broke."}},
		{"a failure code that is new", `"failureReason":{"code":"moon_phase","message":null}`, func(i *Intent) any { return *i.Failure }, FailureReason{Code: "moon_phase"}},
		{"order ids as a list", `"merchantOrderIds":["A-1","A-2","A-1"]`, func(i *Intent) any { return fmt.Sprint(i.OrderIDs) }, "[A-1 A-2]"},
		{"order ids under several names", `"orderId":"A-1","orderIds":["A-1","A-2"],"marketplaceOrderIds":"A-3"`, func(i *Intent) any { return fmt.Sprint(i.OrderIDs) }, "[A-1 A-2 A-3]"},
		{"an order id that is a number", `"orderId":1120`, func(i *Intent) any { return fmt.Sprint(i.OrderIDs) }, "[1120]"},
		{"time without milliseconds", `"createdAt":"2026-06-18T14:02:11Z"`, func(i *Intent) any { return i.CreatedAt }, time.Date(2026, 6, 18, 14, 2, 11, 0, time.UTC)},
		{"time with an offset", `"createdAt":"2026-06-18T10:02:11.5-04:00"`, func(i *Intent) any { return i.CreatedAt }, time.Date(2026, 6, 18, 14, 2, 11, 5e8, time.UTC)},
		{"time without an offset", `"createdAt":"2026-06-18T14:02:11.482"`, func(i *Intent) any { return i.CreatedAt }, time.Date(2026, 6, 18, 14, 2, 11, 482e6, time.UTC)},
		{"time with an offset without a colon", `"createdAt":"2026-06-18T14:02:11+0000"`, func(i *Intent) any { return i.CreatedAt }, time.Date(2026, 6, 18, 14, 2, 11, 0, time.UTC)},
		{"time that is none", `"createdAt":"yesterday"`, func(i *Intent) any { return i.CreatedAt.IsZero() }, true},
		{"a variant value that is a number", `"variantSelections":[{"label":"Pack","value":6.5}]`, func(i *Intent) any { return i.Variants[0] }, VariantSelection{"Pack", "6.5"}},
		{"a payment type of another kind", `"paymentMethod":{"type":"x402","network":"base"}`, func(i *Intent) any { return fmt.Sprintf("%s %t", i.Payment.Type, i.Payment.Token.IsZero()) }, "x402 true"},
		{"a token under its type's name", `"paymentMethod":{"otherToken":"no","cardToken":"tok_1","type":"card_token"}`, func(i *Intent) any { return i.Payment.Token.Reveal() }, "tok_1"},
		{"a token under another name", `"paymentMethod":{"type":"new_kind","sessionToken":"s-1"}`, func(i *Intent) any { return i.Payment.Token.Reveal() }, "s-1"},
		{"a repeated key: the last wins", `"state":"failed","state":"completed"`, func(i *Intent) any { return i.State }, Completed},
		{"an escaped key", `"st\u0061te":"completed"`, func(i *Intent) any { return i.State }, Completed},
		{"a message with the token in it", `"failureReason":{"code":"payment_failed","message":"No such token: tok_12345"},"paymentMethod":{"type":"card_token","cardToken":"tok_12345"}`,
			func(i *Intent) any { return i.Failure.Message }, Text("No such token: [redacted]")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeIntent([]byte(`{"id":"ci_1",` + test.fields + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if value := test.check(&got); value != test.want {
				t.Errorf("got %v, want %v", value, test.want)
			}
		})
	}
}

func TestIntentThatIsNoneIsRefusedWithAReason(t *testing.T) {
	tests := []struct{ name, body, says string }{
		{"nothing", ``, "empty body"},
		{"blanks", " \n", "empty body"},
		{"an array", `[]`, "got an array"},
		{"a string", `"ci_1"`, "got a string"},
		{"null", `null`, "got null"},
		{"no id", `{"state":"failed"}`, "id is missing"},
		{"an id of another type", `{"id":{}}`, "id is missing"},
		{"cut off", `{"id":"ci_1","sta`, "invalid JSON at byte 17 of 17"},
		{"garbage behind", `{"id":"ci_1"} x`, "invalid JSON at byte 15"},
		{"a bomb of brackets", strings.Repeat("[", 1<<20), "invalid JSON"},
		{"deep but closed", `{"id":"x","a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "invalid JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeIntent([]byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want one that says %q", err, test.says)
			}
		})
	}
}

func TestIntentSharesNoMemoryWithTheBody(t *testing.T) {
	body := []byte(`{"id":"ci_1","state":"failed","productUrl":"https://a.example/x"}`)
	got, err := DecodeIntent(body)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = 'x'
	}
	if got.ID != "ci_1" || got.State != Failed || !bytes.Contains(got.Raw, []byte(`"ci_1"`)) {
		t.Errorf("the intent changed with the buffer: %v", got)
	}
}

func TestAKeptTextDoesNotKeepTheBody(t *testing.T) {
	const bodies, size = 16, 1 << 20
	filler := strings.Repeat("x", size)
	var ids []ID
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range bodies {
		intent, err := DecodeIntent(fmt.Appendf(nil, `{"id":"ci_%d","filler":%q}`, n, filler))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, intent.ID)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > bodies*size/4 {
		t.Errorf("%d ids hold %d MiB", len(ids), grown>>20)
	}
	runtime.KeepAlive(ids)
}

func TestIntentNamesItsProductAndMerchant(t *testing.T) {
	tests := []struct{ url, product, merchant string }{
		{"https://spice-lab.example/products/chili-crisp?variant=41", "Chili Crisp", "spice-lab.example"},
		{"https://www.Outfitters.example:8443/p/merino_crew.html", "Merino Crew", "outfitters.example"},
		{"https://big-store.example/dp/B0FAKE1234/", "B0FAKE1234", "big-store.example"},
		{"https://a.example/caf%C3%A9-cr%C3%A8me", "Café Crème", "a.example"},
		{"https://a.example/x%1b%5B31m-%E2%80%AEy", "X[31m Y", "a.example"},
		{"https://a.example/élan-vital", "Élan Vital", "a.example"},
		{"https://a.example", "a.example", "a.example"},
		{"https://a.example/", "a.example", "a.example"},
		{"%%%", "", ""},
		{"", "", ""},
	}
	for _, test := range tests {
		intent := Intent{ProductURL: Text(test.url)}
		same(t, test.url, string(intent.ProductName()), test.product)
		same(t, test.url, string(intent.Merchant()), test.merchant)
	}
	titled := Intent{ProductURL: "https://a.example/x", Offer: &Offer{ProductTitle: "The Title"}}
	same(t, "title of the offer", titled.ProductName(), "The Title")
	titled.Offer.ProductTitle = " \t "
	same(t, "blank title of the offer", titled.ProductName(), "X")
}

func TestOfferSelectedIsNilWhenTheOptionIsNotListed(t *testing.T) {
	offer := Offer{SelectedOptionID: "gone", ShippingOptions: []ShippingOption{{ID: "x"}, {}}}
	if offer.Selected() != nil {
		t.Error("an option that is not listed was found")
	}
	offer.SelectedOptionID = "x"
	if offer.Selected() != &offer.ShippingOptions[0] {
		t.Error("the listed option was not found")
	}
	if (&Offer{ShippingOptions: []ShippingOption{{}}}).Selected() != nil {
		t.Error("nothing was selected, and something was found")
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func FuzzDecodeIntent(f *testing.F) {
	for _, file := range []string{"01-checkout-intents.json", "02-failure-reasons.json"} {
		for _, c := range fixtures(f, file) {
			f.Add([]byte(c.Body))
		}
	}
	f.Add([]byte(`{"id":1,"quantity":"2","orderId":["a",1,null]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		intent, err := DecodeIntent(body)
		if err != nil {
			return
		}
		if intent.ID == "" || !bytes.Equal(intent.Raw, body) {
			t.Fatalf("id %q, %d bytes kept of %d", intent.ID, len(intent.Raw), len(body))
		}
		texts := append([]Text{
			Text(intent.ID), Text(intent.State), intent.ProductURL, intent.ReferenceID, intent.Merchant(), intent.ProductName(),
		}, intent.OrderIDs...)
		if intent.Failure != nil {
			texts = append(texts, Text(intent.Failure.Code), intent.Failure.Message, Text(intent.Failure.Code.Advice()))
		}
		if intent.Buyer != nil {
			texts = append(texts, intent.Buyer.FirstName, intent.Buyer.Email)
		}
		for _, text := range texts {
			if forbidden := findForbidden(string(text)); forbidden != "" {
				t.Fatalf("%q holds %s", text, forbidden)
			}
		}
		if total, ok := intent.Total(); ok {
			if again, err := ParseMoney(total.String()); err != nil || again != total {
				t.Fatalf("total %s reads back as %v, %v", total, again, err)
			}
		}
		checkMasked(t, body)
	})
}

var intentSink Intent

// BenchmarkDecodeIntent decodes the largest intent of the fixtures, as compact as
// the service sends it.
func BenchmarkDecodeIntent(b *testing.B) {
	var body []byte
	for _, f := range fixtures(b, "01-checkout-intents.json") {
		if candidate := compact(b, f.Body); len(candidate) > len(body) {
			body = candidate
		}
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		intentSink, _ = DecodeIntent(body)
	}
}

func compact(t testing.TB, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, body); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
