package simulator

import (
	"bytes"
	_ "embed"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed world.toml
var worldFile []byte

// world is the content of world.toml. It never changes: each simulator has its own copies
// of the products.
type world struct {
	Homes                          []home
	FirstNames, LastNames, Streets []string
	Carriers                       []carrier
	Magics                         []Magic
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
