package simulator

import (
	"hash/fnv"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tillwatch/api"
)

// catalogue holds the products of the merchants.
type catalogue struct {
	products  []*product
	byAddress map[string]*product
	total     int // the sum of the popularities
}

func newCatalogue() *catalogue {
	c := &catalogue{byAddress: map[string]*product{}}
	w := theWorld()
	for _, m := range w.Merchants {
		for _, p := range m.Products {
			p.merchant, p.path, p.availability = m, m.Path+p.Handle, api.InStock
			for _, choice := range p.Choices {
				p.dimensions = append(p.dimensions, w.Dimensions[choice])
			}
			c.products = append(c.products, &p)
			c.total += p.Popularity
			c.keep(&p)
		}
	}
	return c
}

// keep makes find return this product, with its changes, from now on.
func (c *catalogue) keep(p *product) { c.byAddress[p.address()] = p }

// sold lists the merchants' products and all others that were changed, by address.
func (c *catalogue) sold() []*product {
	return slices.SortedFunc(maps.Values(c.byAddress), func(a, b *product) int { return strings.Compare(a.address(), b.address()) })
}

// random draws a product by popularity.
func (c *catalogue) random(d dice) *product {
	at := d.IntN(c.total)
	for _, p := range c.products {
		if at -= p.Popularity; at < 0 {
			return p
		}
	}
	return c.products[0]
}

// find returns the product at a URL. The service works with any merchant: for an
// unknown URL, find makes up a product from the words of the URL, always the same one
// until an event changes it.
func (c *catalogue) find(raw string) *product {
	u, err := url.Parse(raw)
	if err != nil {
		return c.products[0]
	}
	domain := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	path := "/" + strings.Trim(u.Path, "/")
	if p, ok := c.byAddress[domain+path]; ok {
		return p
	}
	p := inventProduct(domain, path)
	p.suit(magicOf(raw))
	return p
}

// inventProduct makes up a product from the words of its address.
func inventProduct(domain, path string) *product {
	sum := fnv.New64a()
	sum.Write([]byte(domain + strings.TrimSuffix(path, "/")))
	d := newDice(sum.Sum64(), diceProduct, 0)
	brand := titled(strings.Split(domain, ".")[0])
	handle := path[strings.LastIndexByte(path, '/')+1:]
	if handle == "" {
		handle = "item-" + strconv.Itoa(d.between(100, 999))
	}
	m := &merchant{
		Domain: domain, Name: brand, Shipping: int64(d.between(3, 12))*100 + 99,
		Orders: "#%04d", From: pick(d, theWorld().Homes).place,
	}
	for _, c := range theWorld().Carriers {
		m.Carriers = append(m.Carriers, c.Name)
	}
	return &product{
		merchant: m, path: path, Handle: handle, Name: titled(handle), Brand: brand,
		Price: int64(d.between(4, 250))*100 - int64(pick(d, []int{0, 1, 5, 50})), availability: api.InStock,
	}
}

// suit changes the product as a magic URL demands.
func (p *product) suit(m magic) {
	switch m.situation {
	case soldOut:
		p.availability = api.OutOfStock
	case unpublished:
		p.removed = true
	case preorder:
		p.availability = api.Preorder
	case highValue:
		p.Price = highPrice
	case partialStock:
		p.partial, p.dimensions = true, []variantDimensionWire{{"Size", []string{"S", "M", "L", "XL"}}}
	case manyVariants:
		p.dimensions = manyDimensions()
	case hostileText:
		p.Name = hostile(p.Name)
	}
	if m.failure == "product_not_found" {
		p.removed = true
	}
}

// titled turns "chili-crisp" into "Chili Crisp".
func titled(handle string) string {
	words := strings.FieldsFunc(handle, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		runes := []rune(w)
		runes[0] = unicode.ToUpper(runes[0])
		words[i] = string(runes)
	}
	return strings.Join(words, " ")
}

const highPrice = 999_999

func manyDimensions() []variantDimensionWire {
	return []variantDimensionWire{
		{"Size", []string{"XS", "S", "M", "L", "XL", "2XL", "3XL"}},
		{"Color", []string{"Moss", "Slate", "Ember", "Chalk"}},
	}
}

// hostile appends to a text what must never reach a terminal.
func hostile(text string) string {
	return text + "\x1b]0;owned\x07\x1b[2J\r\u202edrowssap\u200b"
}
