package api

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatThePartsLeaveOfATotalIsAPartOfItsOwn(t *testing.T) {
	in := func(currency string, subunits int64) *Money { return &Money{Currency: currency, Subunits: subunits} }
	usd := func(subunits int64) *Money { return in("USD", subunits) }
	for _, c := range []struct {
		name string
		cost Cost
		want string
	}{
		{"they add up", Cost{Subtotal: usd(3490), Shipping: usd(599), Tax: usd(363), Total: usd(4452)}, "Subtotal 34.90 USD, Shipping 5.99 USD, Tax 3.63 USD"},
		{"a discount is taken off", Cost{Subtotal: usd(3490), Discount: usd(490), Total: usd(3000)}, "Subtotal 34.90 USD, Discount −4.90 USD"},
		{"a discount that is written below zero, too", Cost{Subtotal: usd(3490), Discount: usd(-490), Total: usd(3000)}, "Subtotal 34.90 USD, Discount −4.90 USD"},
		{"they are less", Cost{Subtotal: usd(3490), Surcharge: usd(10), Total: usd(4000)}, "Subtotal 34.90 USD, Surcharge 0.10 USD, Other 5.00 USD"},
		{"they are more", Cost{Subtotal: usd(3490), Total: usd(2990)}, "Subtotal 34.90 USD, Other −5.00 USD"},
		{"a part is missing", Cost{Subtotal: usd(1000), Total: usd(1500)}, "Subtotal 10.00 USD, Other 5.00 USD"},
		{"a currency without decimals", Cost{Subtotal: in("JPY", 1000), Total: in("JPY", 1500)}, "Subtotal 1,000 JPY, Other 500 JPY"},
		{"a part in another currency", Cost{Subtotal: usd(1000), Tax: in("EUR", 100), Total: usd(1100)}, "Subtotal 10.00 USD, Tax 1.00 EUR, Other unknown: several currencies"},
		{"a total in another currency", Cost{Subtotal: usd(1000), Total: in("EUR", 1000)}, "Subtotal 10.00 USD, Other unknown: several currencies"},
		{"too large", Cost{Subtotal: usd(math.MinInt64), Shipping: usd(math.MinInt64), Total: usd(1)}, "Subtotal −92,233,720,368,547,758.08 USD, Shipping −92,233,720,368,547,758.08 USD, Other unknown: too large"},
		{"the largest discount", Cost{Subtotal: usd(0), Discount: usd(math.MinInt64), Total: usd(0)}, "Subtotal 0.00 USD, Discount −92,233,720,368,547,758.08 USD, Other unknown: too large"},
		{"no parts", Cost{Total: usd(1100)}, ""},
		{"no total", Cost{Subtotal: usd(1100)}, "Subtotal 11.00 USD"},
		{"nothing", Cost{}, ""},
	} {
		var got []string
		for _, p := range c.cost.Parts() {
			got = append(got, p.Name+" "+p.Signed())
			if p.Odd != (p.Name == "Other") {
				t.Errorf("%s: %s, odd %t", c.name, p.Name, p.Odd)
			}
		}
		if joined := strings.Join(got, ", "); joined != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, joined, c.want)
		}
	}
}

func TestThePartsThatAreShownAddUpToTheTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := func(name string) *Money {
			if !rapid.Bool().Draw(t, "has "+name) {
				return nil
			}
			return &Money{Currency: "USD", Subunits: rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, name)}
		}
		c := Cost{Subtotal: amount("subtotal"), Shipping: amount("shipping"), Tax: amount("tax"), Discount: amount("discount"), Surcharge: amount("surcharge"), Total: amount("total")}
		parts := c.Parts()
		if c.Total == nil || len(parts) == 0 {
			return
		}
		sum := int64(0)
		for _, p := range parts {
			shown, err := ParseMoney(strings.Replace(p.Signed(), "−", "-", 1))
			if err != nil {
				t.Fatal(err)
			}
			sum += shown.Subunits
		}
		if sum != c.Total.Subunits {
			t.Fatalf("%d is shown, the total is %d", sum, c.Total.Subunits)
		}
	})
}
