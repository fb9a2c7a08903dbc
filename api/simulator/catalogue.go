package simulator

import (
	"bytes"
	_ "embed"
	"hash/fnv"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"tillwatch/api"
)

//go:embed world.toml
var worldFile []byte

// world is the content of world.toml. It never changes: each simulator has its own copies of the products.
type world struct {
	Homes                          []home
	FirstNames, LastNames, Streets []string
	Carriers                       []carrier
	Magics                         []Magic
	Failures                       map[api.FailureCode]failureKind
	Dimensions                     map[string]variantDimensionWire
	Merchants                      []*merchant
}

var theWorld = sync.OnceValue(func() (w world) {
	if err := toml.NewDecoder(bytes.NewReader(worldFile)).DisallowUnknownFields().Decode(&w); err != nil {
		panic("simulator: world.toml: " + err.Error())
	}
	return w
})

// place is a town with its offset from UTC in hours.
type place struct {
	City, Province string
	Offset         int
}

// home is where a buyer lives.
type home struct {
	place
	Postal string // first digits of the postal code
	Area   string // area code
	Tax    int64  // sales tax, in thousandths of a percent
}

// carrier delivers parcels.
type carrier struct {
	Name    string
	Form    string // format of its tracking numbers
	Numbers int64  // tracking numbers are below this
}

// merchant is a web shop on a domain reserved for examples.
type merchant struct {
	Domain, Name string
	Shipping     int64  // cents for the cheapest option
	FreeFrom     int64  // cents of subtotal from which shipping is free; 0: never
	Orders       string // format of the order ids
	From         place
	Carriers     []string
	Path         string // prefix of the paths of its product pages
	Products     []product
}

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

// find returns the product at a URL. The service works with any merchant: for an unknown URL, find makes up a product
// from the words of the URL, always the same one until an event changes it.
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

// hostile appends to a text what must never reach a terminal.
func hostile(text string) string {
	return text + "\x1b]0;owned\x07\x1b[2J\r\u202edrowssap\u200b"
}

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
	availability api.Availability
	removed      bool
}

// id returns <domain>:<handle>. Event ids contain it, and a header carries those.
func (p *product) id() string {
	const longest = 200
	id := url.PathEscape(p.merchant.Domain + ":" + p.Handle)
	return id[:min(len(id), longest)]
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
			Availability: p.availability, Price: usd(p.Price), Images: []imageWire{}, Dimensions: chosen,
		})
	}
	return variants
}
