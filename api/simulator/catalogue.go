package simulator

import (
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"tillwatch/api"
)

// merchant is a shop on the web, on a domain that is reserved for examples.
type merchant struct {
	domain, name  string
	shipping      int64 // cents for the cheapest option
	freeFrom      int64 // cents of subtotal from which it is free; 0: never
	orders        string
	from          place
	carriers      []string
	productPrefix string // of the path
}

// product is one thing that a merchant sells. Price and availability change.
type product struct {
	merchant     *merchant
	handle       string
	name, brand  string
	price        int64 // cents
	popularity   int
	dimensions   []variantDimensionWire
	digital      bool
	heavy        bool
	availability api.Availability
	removed      bool
}

func (p *product) id() string { return p.merchant.domain + ":" + p.handle }
func (p *product) url() string {
	return "https://" + p.merchant.domain + p.merchant.productPrefix + p.handle
}

// catalogue is what the merchants sell.
type catalogue struct {
	products []*product
	byURL    map[string]*product // by domain and path
	total    int                 // of the popularities
}

func newCatalogue() *catalogue {
	c := &catalogue{products: assortment(), byURL: map[string]*product{}}
	for _, p := range c.products {
		p.availability = api.InStock
		c.byURL[p.merchant.domain+p.merchant.productPrefix+p.handle] = p
		c.total += p.popularity
	}
	return c
}

// random draws a product by popularity.
func (c *catalogue) random(d dice) *product {
	at := d.IntN(c.total)
	for _, p := range c.products {
		if at -= p.popularity; at < 0 {
			return p
		}
	}
	return c.products[0]
}

// find is the product at a URL. The service works with any merchant, so a URL
// that the catalogue does not hold gets a product made of its own words, always
// the same.
func (c *catalogue) find(raw string) *product {
	u, err := url.Parse(raw)
	if err != nil {
		return c.products[0]
	}
	domain := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	path := strings.TrimSuffix(u.Path, "/")
	if p, ok := c.byURL[domain+path]; ok {
		return p
	}
	sum := fnv.New64a()
	sum.Write([]byte(domain + path))
	d := newDice(sum.Sum64(), diceProduct, 0)
	prefix, handle := "/", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		prefix, handle = path[:i+1], path[i+1:]
	}
	if handle == "" {
		handle = "item-" + strconv.Itoa(d.between(100, 999))
	}
	return &product{
		merchant: &merchant{
			domain: domain, name: titled(strings.Split(domain, ".")[0]), shipping: int64(d.between(3, 12))*100 + 99,
			orders: "#%04d", from: pick(d, places()), carriers: carrierNames(), productPrefix: prefix,
		},
		handle: handle, name: titled(handle), brand: titled(strings.Split(domain, ".")[0]),
		price: int64(d.between(4, 250))*100 - int64(pick(d, []int{0, 1, 5, 50})), availability: api.InStock,
	}
}

// titled makes "chili-crisp" into "Chili Crisp".
func titled(handle string) string {
	words := strings.FieldsFunc(handle, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		runes := []rune(w)
		runes[0] = unicode.ToUpper(runes[0])
		words[i] = string(runes)
	}
	return strings.Join(words, " ")
}

// wire is the product as the lookup answers it and product.updated carries it.
func (p *product) wire(m magic) productWire {
	images := []imageWire{
		{"https://cdn." + p.merchant.domain + "/" + p.handle + "-1.jpg", true},
		{"https://cdn." + p.merchant.domain + "/" + p.handle + "-2.jpg", false},
	}
	sku := strings.ToUpper(p.handle)
	description := p.name + " from " + p.merchant.name + "."
	w := productWire{
		ID: p.id(), Name: p.name, URL: p.url(), Brand: &p.brand, Retailer: &p.merchant.name, SKU: &sku, Description: &description,
		Availability: p.availability, Price: usd(p.price), Images: images,
	}
	dimensions := p.dimensions
	switch m.situation {
	case soldOut:
		w.Availability = api.OutOfStock
	case preorder:
		w.Availability = api.Preorder
	case highValue:
		w.Price = usd(highPrice)
	case partialStock:
		dimensions = []variantDimensionWire{{"Size", []string{"S", "M", "L", "XL"}}}
	case manyVariants:
		dimensions = manyDimensions()
	case hostileText:
		w.Name, description = hostile(p.name), hostile(description)
	}
	w.IsPurchasable = w.Availability != api.OutOfStock
	w.VariantDimensions = dimensions
	w.Variants = p.variants(dimensions, w.Price, m.situation == partialStock)
	return w
}

func (p *product) variants(dimensions []variantDimensionWire, price moneyWire, partial bool) []variantWire {
	if len(dimensions) == 0 {
		return nil
	}
	choices := [][]dimensionChoiceWire{nil}
	for _, dim := range dimensions {
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
		availability := p.availability
		if partial && i%2 == 1 {
			availability = api.OutOfStock
		}
		sku := strings.ToUpper(p.handle) + "-" + strconv.Itoa(i+1)
		variants = append(variants, variantWire{
			ID: strconv.Itoa(4100 + i), Name: strings.Join(names, " / "), SKU: &sku,
			Availability: availability, Price: price, Images: []imageWire{}, Dimensions: chosen,
		})
	}
	return variants
}

const highPrice = 999_999

func manyDimensions() []variantDimensionWire {
	return []variantDimensionWire{
		{"Size", []string{"XS", "S", "M", "L", "XL", "2XL", "3XL"}},
		{"Color", []string{"Moss", "Slate", "Ember", "Chalk"}},
	}
}

// hostile puts into a text what must never reach a terminal.
func hostile(text string) string {
	return text + "\x1b]0;owned\x07\x1b[2J\r\u202edrowssap\u200b"
}
