package simulator

import "time"

// lookUpProduct answers with the product at a URL, as it is now.
func (h *handlers) lookUpProduct(r *request) answer {
	raw := r.URL.Query().Get("url")
	if raw == "" {
		return invalidField("url", "'url' is required")
	}
	if !isWebAddress(raw) {
		return invalid(checker{"url": {"invalid url", quoted(raw)}})
	}
	p := h.sim.catalogue.find(raw)
	if p.removed {
		return notFound("Product not found")
	}
	return ok(quote(p, magicOf(raw), h.sim.agenda.now()))
}

// quote returns the product with tax and shipping for one piece within the merchant's
// own state (contract, What the service does). An offer, which knows the buyer, may
// differ.
func quote(p *product, m magic, now time.Time) productWire {
	w := p.wire()
	tax, shipping := usd(0), usd(0)
	if m.situation != taxExempt {
		tax = usd((p.Price*taxOf(p.merchant.From.Province) + 50_000) / 100_000)
	}
	if options := shippingOptions(p, m, p.Price, false, 1, now).AvailableOptions; len(options) > 0 {
		shipping = options[0].Cost
	}
	w.Tax, w.Shipping = &tax, &shipping
	return w
}
