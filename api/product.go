package api

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/tidwall/gjson"
)

// Availability says whether a product can be had; an open set.
type Availability string

// The availabilities that public clients have seen.
const (
	InStock    Availability = "in_stock"
	OutOfStock Availability = "out_of_stock"
	Preorder   Availability = "preorder"
	Backorder  Availability = "backorder"
)

// Product is a looked-up product, or the snapshot that product.updated carries.
// A snapshot can be older than what is already known.
type Product struct {
	ID           ID
	Name         Text
	URL          Text
	Brand        Text
	Retailer     Text
	SKU          Text
	Description  Text
	Price        *Money
	Tax          *Money // of a lookup; nil when absent
	Shipping     *Money // of a lookup; nil when absent
	Availability Availability
	Purchasable  bool
	Image        Text // URL of the featured image, or else of the first
	Dimensions   []VariantDimension
	Variants     []Variant
	Raw          json.RawMessage // the exact body
	Response     Response        `json:"-"` // the answer it was read from
}

// VariantDimension is what a product can be chosen by, and the values there are.
type VariantDimension struct {
	Label  Text
	Values []Text
}

// Variant is one choice of a product.
type Variant struct {
	ID           ID
	Name         Text
	SKU          Text
	Price        *Money
	Availability Availability
	Dimensions   []VariantSelection
}

// DecodeProduct reads a product leniently: a JSON object with an id or a URL
// never fails, whatever its other fields hold.
func DecodeProduct(body []byte) (Product, error) { return decodeProduct(body, Response{}) }

func decodeProduct(body []byte, of Response) (Product, error) {
	object, err := parseObject("product", body)
	if err != nil {
		return Product{}, err
	}
	product := Product{Raw: bytes.Clone(body), Response: of}
	eachField(object, product.decodeField)
	if product.ID == "" && product.URL == "" {
		return Product{}, errors.New("decode product: neither an id nor a url")
	}
	return product, nil
}

func (p *Product) decodeField(key string, v gjson.Result) {
	switch key {
	case "id":
		p.ID = idOf(v)
	case "name":
		p.Name = textOf(v)
	case "url":
		p.URL = textOf(v)
	case "brand":
		p.Brand = textOf(v)
	case "retailer":
		p.Retailer = textOf(v)
	case "sku":
		p.SKU = textOrNumber(v)
	case "description":
		p.Description = textOf(v)
	case "price":
		p.Price = decodeMoney(v)
	case "tax":
		p.Tax = decodeMoney(v)
	case "shipping":
		p.Shipping = decodeMoney(v)
	case "availability":
		p.Availability = Availability(textOf(v))
	case "isPurchasable":
		p.Purchasable = v.Type == gjson.True
	case "images":
		p.Image = decodeImage(v)
	case "variantDimensions":
		p.Dimensions = decodeDimensions(v)
	case "variants":
		p.Variants = nil
		eachItem(v, func(v gjson.Result) {
			if v.IsObject() {
				p.Variants = append(p.Variants, decodeVariant(v))
			}
		})
	}
}

func decodeImage(v gjson.Result) Text {
	var first, featured Text
	eachItem(v, func(v gjson.Result) {
		var url Text
		var isFeatured bool
		eachField(v, func(key string, v gjson.Result) {
			switch key {
			case "url":
				url = textOf(v)
			case "isFeatured":
				isFeatured = v.Type == gjson.True
			}
		})
		if first == "" {
			first = url
		}
		if featured == "" && isFeatured {
			featured = url
		}
	})
	if featured != "" {
		return featured
	}
	return first
}

func decodeDimensions(v gjson.Result) []VariantDimension {
	var dimensions []VariantDimension
	eachItem(v, func(v gjson.Result) {
		var dimension VariantDimension
		eachField(v, func(key string, v gjson.Result) {
			switch key {
			case "label":
				dimension.Label = textOf(v)
			case "values":
				dimension.Values = textsOf(v)
			}
		})
		if dimension.Label != "" {
			dimensions = append(dimensions, dimension)
		}
	})
	return dimensions
}

func decodeVariant(v gjson.Result) Variant {
	var variant Variant
	eachField(v, func(key string, v gjson.Result) {
		switch key {
		case "id":
			variant.ID = idOf(v)
		case "name":
			variant.Name = textOf(v)
		case "sku":
			variant.SKU = textOrNumber(v)
		case "price":
			variant.Price = decodeMoney(v)
		case "availability":
			variant.Availability = Availability(textOf(v))
		case "dimensions":
			variant.Dimensions = decodeSelections(v)
		}
	})
	return variant
}
