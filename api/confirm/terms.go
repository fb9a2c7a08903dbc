package confirm

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
)

// term is one thing that a person agrees to by a yes: it must still be the same when the confirm is sent.
type term struct {
	what   string                     // as a difference names it
	fields string                     // the paths of what it is made of in an intent's JSON; of a list, of its items
	of     func(in *api.Intent) value // what an intent says of it
}

// value is what an intent says of a term.
type value struct {
	is      any    // comparable
	shown   string // for people, without what is private; "" for nothing
	unknown bool   // a saved picture does not hold it, so nothing is compared with it
}

// terms are all that a buyer would call "what I bought". A change of any of it is a change. What the dialog does not
// show of it is private, or a detail of what it shows.
func terms() []term {
	const shipping, listed = "offer.shipping.", "offer.shipping.availableOptions."
	return []term{
		{"intent", "id", func(in *api.Intent) value { return value{is: in.ID, shown: string(in.ID)} }},
		{"product", "offer.product.title", func(in *api.Intent) value { return text(in, in.ProductName()) }},
		{"product URL", "productUrl", func(in *api.Intent) value {
			return value{is: in.ProductURL, shown: text(in, api.MaskAddress(in.ProductURL)).shown}
		}},
		{"variant", "variantSelections.label variantSelections.value", func(in *api.Intent) value {
			return value{is: fmt.Sprintf("%q", in.Variants), shown: text(in, variant(in.Variants)).shown}
		}},
		{"quantity", "quantity", func(in *api.Intent) value { return value{is: in.Quantity, shown: fmt.Sprint(in.Quantity)} }},
		{"subtotal", "offer.cost.subtotal", cost(func(c *api.Cost) *api.Money { return c.Subtotal })},
		{"shipping", "offer.cost.shipping", cost(func(c *api.Cost) *api.Money { return c.Shipping })},
		{"tax", "offer.cost.tax", cost(func(c *api.Cost) *api.Money { return c.Tax })},
		{"discount", "offer.cost.discount", cost(func(c *api.Cost) *api.Money { return c.Discount })},
		{"surcharge", "offer.cost.surcharge", cost(func(c *api.Cost) *api.Money { return c.Surcharge })},
		{"total", "offer.cost.total", cost(func(c *api.Cost) *api.Money { return c.Total })},
		{"shipping option", shipping + "selectedOptionId", func(in *api.Intent) value {
			o := offer(in).Option()
			return text(in, api.Scrub(strings.TrimSpace(string(o.Label+" "+o.ID))))
		}},
		{"delivery", listed + "deliveryEstimate.earliest " + listed + "deliveryEstimate.latest", delivery},
		{"option price", listed + "id " + listed + "cost " + listed + "discount", optionPrice},
		{"promo codes", "promoCodes", func(in *api.Intent) value { return list(in, in.PromoCodes) }},
		{"applied codes", "offer.appliedPromoCodes", func(in *api.Intent) value { return list(in, offer(in).AppliedPromoCodes) }},
		{"max total", "constraints.maxTotalPrice", limit(func(c *api.Constraints) *int64 { return c.MaxTotalPrice })},
		{"max shipping", "constraints.maxShippingPrice", limit(func(c *api.Constraints) *int64 { return c.MaxShippingPrice })},
		{"reference", "referenceId", func(in *api.Intent) value { return text(in, in.ReferenceID) }},
		{"buyer", "buyer.firstName buyer.lastName buyer.email buyer.phone buyer.address1 buyer.address2 buyer.city " +
			"buyer.province buyer.postalCode buyer.country", buyer},
		{"payment", "paymentMethod.type", func(in *api.Intent) value { return payment(in, false) }},
		{"payment", "paymentMethod.vaultToken", func(in *api.Intent) value { return payment(in, true) }},
	}
}

// differences compares what was seen with a newer read.
func (p Proposal) differences(now *api.Intent) (out []Difference) {
	for _, t := range terms() {
		seen, read := t.of(&p.seen), t.of(now)
		counted := len(out) > 0 && out[len(out)-1].What == t.what
		if seen.unknown || counted || seen.is == read.is {
			continue
		}
		d := Difference{t.what, cmp.Or(seen.shown, "none"), cmp.Or(read.shown, "none")}
		if d.Seen == d.Now { // what differs is private
			d.Now = "another"
		}
		out = append(out, d)
	}
	return out
}

// text hides from people what quotes the buyer.
func text(in *api.Intent, t api.Text) value {
	if in.Buyer.QuotedIn(t) {
		return value{is: t, shown: in.Buyer.String()}
	}
	return value{is: t, shown: string(t)}
}

func list(in *api.Intent, texts []api.Text) value {
	shown := make([]string, len(texts))
	for i, t := range texts {
		shown[i] = text(in, t).shown
	}
	return value{is: fmt.Sprintf("%q", texts), shown: strings.Join(shown, ", ")}
}

func offer(in *api.Intent) *api.Offer { return cmp.Or(in.Offer, &api.Offer{}) }

func cost(part func(*api.Cost) *api.Money) func(*api.Intent) value {
	return func(in *api.Intent) value {
		shown := amount(part(&offer(in).Cost))
		return value{is: shown, shown: shown}
	}
}

func amount(m *api.Money) string {
	if m == nil {
		return "none"
	}
	return m.String()
}

func limit(of func(*api.Constraints) *int64) func(*api.Intent) value {
	return func(in *api.Intent) value {
		most := of(cmp.Or(in.Constraints, &api.Constraints{}))
		if most == nil {
			return value{}
		}
		return value{is: *most, shown: amount(&api.Money{Currency: total(in).Currency, Subunits: *most})}
	}
}

// total is the total; zero while unknown.
func total(in *api.Intent) api.Money {
	m, _ := in.Total()
	return m
}

// delivery is when the order is expected, by the day: some services estimate it anew at each read.
func delivery(in *api.Intent) value {
	o := offer(in).Option()
	var v value
	var days [2]string
	for i, at := range []time.Time{o.EarliestDelivery, o.LatestDelivery} {
		if at.IsZero() {
			continue
		}
		days[i] = at.UTC().Format(time.DateOnly)
		v.shown += [...]string{"from ", " by "}[i] + at.UTC().Format("Jan 2")
	}
	v.is, v.shown = days, strings.TrimSpace(v.shown)
	return v
}

func optionPrice(in *api.Intent) value {
	o := offer(in).Option()
	v := value{is: [2]string{amount(o.Cost), amount(o.Discount)}, shown: amount(o.Cost)}
	if o.Discount != nil {
		v.shown += " less " + amount(o.Discount)
	}
	return v
}

func buyer(in *api.Intent) value {
	if in.Buyer == nil {
		return value{unknown: true}
	}
	return value{is: *in.Buyer, shown: in.Buyer.String()}
}

// payment is how it is paid, or what with: its token.
func payment(in *api.Intent, token bool) value {
	switch p := in.Payment; {
	case p == nil, token && p.Token.IsZero():
		return value{unknown: true}
	case token:
		return value{is: p.Token, shown: string(p.Type)}
	default:
		return value{is: p.Type, shown: string(p.Type)}
	}
}

func variant(selected []api.VariantSelection) api.Text {
	parts := make([]string, len(selected))
	for i, s := range selected {
		parts[i] = string(s.Label + " " + s.Value)
	}
	return api.Scrub(strings.Join(parts, ", "))
}
