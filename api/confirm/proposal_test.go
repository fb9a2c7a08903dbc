package confirm_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

func TestWhatChangedSinceItWasSeenIsNotSent(t *testing.T) {
	card := func(token string) *api.PaymentMethod {
		return &api.PaymentMethod{Type: api.VaultToken, Token: api.NewSecret(token)}
	}
	buyer := func(city api.Text) *api.Buyer { return &api.Buyer{FirstName: "Ann", City: city} }
	first := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	option := func(id api.Text, days int) api.ShippingOption {
		return api.ShippingOption{ID: id, Cost: &api.Money{Currency: "USD", Subunits: 599}, LatestDelivery: first.AddDate(0, 0, days)}
	}
	ordered := func() api.Intent {
		in := awaiting()
		in.Buyer, in.Payment = buyer("Lisbon"), card("tok_one")
		in.Variants = []api.VariantSelection{{Label: "Size", Value: "M"}}
		in.ReferenceID, in.PromoCodes, in.Offer.AppliedPromoCodes = "order-7", []api.Text{"WELCOME10"}, []api.Text{"WELCOME10"}
		in.Constraints = &api.Constraints{MaxTotalPrice: new(int64(5000))}
		in.Offer.SelectedOptionID = "standard"
		in.Offer.ShippingOptions = []api.ShippingOption{option("standard", 3), option("overnight", 1)}
		return in
	}
	for _, c := range []struct {
		name    string
		change  func(seen, now *api.Intent)
		changed string // what is named; "": it is confirmed
	}{
		{"nothing", func(_, _ *api.Intent) {}, ""},
		{"the title", func(_, now *api.Intent) { now.Offer.ProductTitle = "Chili Oil" }, "product"},
		{"the page", func(_, now *api.Intent) { now.ProductURL += "-2" }, "product URL"},
		{"the variant", func(_, now *api.Intent) { now.Variants[0].Value = "L" }, "variant"},
		{"the quantity", func(_, now *api.Intent) { now.Quantity = 2 }, "quantity"},
		{"the currency", func(_, now *api.Intent) {
			now.Offer.Cost.Total = &api.Money{Currency: "EUR", Subunits: now.Offer.Cost.Total.Subunits}
		}, "total"},
		{"the shipping option, of the same price and time", func(_, now *api.Intent) {
			now.Offer.ShippingOptions[1].LatestDelivery = now.Offer.ShippingOptions[0].LatestDelivery
			now.Offer.SelectedOptionID = "overnight"
		}, "shipping option"},
		{"a shipping option that is not listed", func(seen, now *api.Intent) {
			seen.Offer.ShippingOptions, now.Offer.ShippingOptions = nil, nil
			now.Offer.SelectedOptionID = "overnight"
		}, "shipping option"},
		{"when it comes", func(_, now *api.Intent) { now.Offer.ShippingOptions[0] = option("standard", 9) }, "delivery"},
		{"when it comes, within a day", func(_, now *api.Intent) {
			now.Offer.ShippingOptions[0].LatestDelivery = now.Offer.ShippingOptions[0].LatestDelivery.Add(time.Minute)
		}, ""},
		{"the price of the shipping option", func(_, now *api.Intent) { now.Offer.ShippingOptions[0].Cost = nil }, "option price"},
		{"an option that is not selected", func(_, now *api.Intent) { now.Offer.ShippingOptions[1] = option("drone", 0) }, ""},
		{"the reference", func(_, now *api.Intent) { now.ReferenceID = "order-8" }, "reference"},
		{"the codes that were given", func(_, now *api.Intent) { now.PromoCodes = nil }, "promo codes"},
		{"the codes that were applied", func(_, now *api.Intent) { now.Offer.AppliedPromoCodes = nil }, "applied codes"},
		{"the buyer's limit", func(_, now *api.Intent) { now.Constraints = nil }, "max total"},
		{"a secret in the page's address", func(seen, now *api.Intent) { seen.ProductURL += "?token=tok_1"; now.ProductURL += "?token=tok_2" }, "product URL"},
		{"a reference that names the buyer", func(_, now *api.Intent) { now.ReferenceID = "for Ann" }, "reference"},
		{"where it goes", func(_, now *api.Intent) { now.Buyer = buyer("Porto") }, "buyer"},
		{"a buyer who is gone", func(_, now *api.Intent) { now.Buyer = nil }, "buyer"},
		{"a buyer whom a saved picture does not hold", func(seen, _ *api.Intent) { seen.Buyer = nil }, ""},
		{"the kind of payment", func(_, now *api.Intent) { now.Payment = &api.PaymentMethod{Type: api.Drawdown} }, "payment"},
		{"the card", func(_, now *api.Intent) { now.Payment = card("tok_two") }, "payment"},
		{"a payment that is gone", func(_, now *api.Intent) { now.Payment = nil }, "payment"},
		{"a card of which a saved picture holds the kind", func(seen, _ *api.Intent) { seen.Payment = &api.PaymentMethod{Type: api.VaultToken} }, ""},
		{"a payment that was not known", func(seen, _ *api.Intent) { seen.Payment = nil }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen, now := ordered(), ordered()
				c.change(&seen, &now)
				s := &service{intent: now}
				g, _ := guard(t, s)
				out := g.Confirm(t.Context(), proposal(t, seen), nil)
				if c.changed == "" {
					if out.Verdict != confirm.Accepted {
						t.Errorf("%s: %s", out.Verdict, out)
					}
					return
				}
				if out.Verdict != confirm.Changed || s.confirms > 0 || len(out.Differences) != 1 || out.Differences[0].What != c.changed {
					t.Errorf("%s, %d sent: %s; want %s", out.Verdict, s.confirms, out, c.changed)
				}
				for _, private := range []string{"Ann", "Lisbon", "Porto", "tok_"} {
					if strings.Contains(out.String(), private) {
						t.Errorf("it quotes what is private: %s", out)
					}
				}
			})
		})
	}
}
