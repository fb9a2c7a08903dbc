package simulator

import (
	"math"
	"slices"

	"tillwatch/api"
)

// soldProduct is a product as the control API lists it.
type soldProduct struct {
	productWire
	Removed bool `json:"removed"` // the lookup answers 404
}

// products lists the merchants' products and all others that were changed.
func (c controlAPI) products(*request) answer {
	sold := []soldProduct{}
	for _, p := range c.sim.catalogue.sold() {
		sold = append(sold, soldProduct{p.wire(), p.removed})
	}
	return ok(sold)
}

// happenToProduct changes or removes a product.
func (c controlAPI) happenToProduct(o happening) answer {
	updated := o.Type == api.ProductUpdated
	switch {
	case o.ProductURL != "" && !isWebAddress(o.ProductURL):
		return invalidField("body.productUrl", "must be absolute and begin with http:// or https://")
	case o.Price != nil && !(updated && *o.Price >= 0 && *o.Price <= math.MaxInt32):
		return invalidField("body.price", "must be cents from 0 to 2147483647, of product.updated")
	case o.Availability != "" && !(updated && slices.Contains(availabilities(), o.Availability)):
		return invalidField("body.availability", "must be one of "+List(availabilities(), "and")+", of product.updated")
	}
	p := c.sim.catalogue.random(c.sim.shop.dice)
	if o.ProductURL != "" {
		p = c.sim.catalogue.find(o.ProductURL)
	}
	if !updated {
		e := c.sim.shop.removeProduct(p, c.sim.agenda.now())
		return created(e.wire())
	}
	if o.Price == nil && o.Availability == "" {
		p.revise(c.sim.shop.dice)
	}
	p.removed = false
	if o.Price != nil {
		p.Price = *o.Price
	}
	if o.Availability != "" {
		p.availability = o.Availability
	}
	e := c.sim.shop.updateProduct(p, c.sim.agenda.now())
	return created(e.wire())
}

func availabilities() []api.Availability {
	return []api.Availability{api.InStock, api.OutOfStock, api.Preorder, api.Backorder, "unknown"}
}
