package simulator

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"tillwatch/api"
)

// product is a product of a merchant. Its price and availability change.
type product struct {
	Handle      string // last part of its page's path
	Name, Brand string
	Price       int64 // cents
	Popularity  int
	Choices     []string // names of dimensions of the world
	Digital     bool
	Heavy       bool

	merchant     *merchant
	path         string // of its page, with the leading slash
	dimensions   []variantDimensionWire
	partial      bool // every second variant is out of stock
	availability api.Availability
	removed      bool
}

// id returns <domain>:<handle>. Event ids contain it, and a header carries those: id
// replaces characters that a header cannot hold, and appends a hash to stay unique.
func (p *product) id() string {
	id := p.merchant.Domain + ":" + p.Handle
	plain := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '-'
		}
		return r
	}, id)
	const longest = 200
	if plain == id && len(id) <= longest {
		return id
	}
	sum := fnv.New64a()
	sum.Write([]byte(id))
	return fmt.Sprintf("%s-%016x", plain[:min(len(plain), longest)], sum.Sum64())
}

func (p *product) url() string {
	host := p.merchant.Domain
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return (&url.URL{Scheme: "https", Host: host, Path: p.path}).String()
}

// address is the key of a product in the catalogue.
func (p *product) address() string { return p.merchant.Domain + p.path }

// revise changes the price or the stock: the next lookup differs from the last.
func (p *product) revise(d dice) {
	switch {
	case p.removed:
		p.removed = false
		p.reprice(d)
	case p.availability != api.InStock:
		p.availability = api.InStock
	case d.chance(0.15):
		p.availability = api.OutOfStock
	default:
		p.reprice(d)
	}
}

// reprice moves the price by up to 12 %, and by a cent at least.
func (p *product) reprice(d dice) {
	const least, most = 400, 2_000_000
	step := max(1, p.Price*int64(d.between(1, 12))/100)
	if p.Price+step > most || p.Price-step >= least && d.chance(0.5) {
		step = -step
	}
	p.Price += step
}

// wire returns the product as the lookup and product.updated show it.
func (p *product) wire() productWire {
	image := "https://cdn." + p.merchant.Domain + "/" + url.PathEscape(p.Handle)
	sku := strings.ToUpper(p.Handle)
	description := p.Name + " from " + p.merchant.Name + "."
	return productWire{
		ID: p.id(), Name: p.Name, URL: p.url(), Brand: &p.Brand, Retailer: &p.merchant.Name, SKU: &sku, Description: &description,
		Availability: p.availability, IsPurchasable: p.availability != api.OutOfStock, Price: usd(p.Price),
		Images:            []imageWire{{image + "-1.jpg", true}, {image + "-2.jpg", false}},
		VariantDimensions: p.dimensions, Variants: p.variants(),
	}
}

// firstVariant is the id of the first variant; the others count up from it.
const firstVariant = 4100

// variants returns all combinations of the values of the dimensions.
func (p *product) variants() []variantWire {
	if len(p.dimensions) == 0 {
		return nil
	}
	choices := [][]dimensionChoiceWire{nil}
	for _, dim := range p.dimensions {
		var longer [][]dimensionChoiceWire
		for _, chosen := range choices {
			for _, value := range dim.Values {
				longer = append(longer, append(chosen[:len(chosen):len(chosen)], dimensionChoiceWire{dim.Label, value}))
			}
		}
		choices = longer
	}
	variants := make([]variantWire, 0, len(choices))
	for i, chosen := range choices {
		var names []string
		for _, c := range chosen {
			names = append(names, c.Value)
		}
		sku := strings.ToUpper(p.Handle) + "-" + strconv.Itoa(i+1)
		variants = append(variants, variantWire{
			ID: strconv.Itoa(firstVariant + i), Name: strings.Join(names, " / "), SKU: &sku,
			Availability: p.availabilityOf(i), Price: usd(p.Price), Images: []imageWire{}, Dimensions: chosen,
		})
	}
	return variants
}

// availabilityOf returns the availability of a variant.
func (p *product) availabilityOf(variant int) api.Availability {
	if p.partial && variant%2 == 1 {
		return api.OutOfStock
	}
	return p.availability
}
