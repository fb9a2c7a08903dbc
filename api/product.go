package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"

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
	ID           ID                 `json:"id"`
	Name         Text               `json:"name,omitempty"`
	URL          Text               `json:"url,omitempty"`
	Brand        Text               `json:"brand,omitempty"`
	Retailer     Text               `json:"retailer,omitempty"`
	SKU          Text               `json:"sku,omitempty"`
	Description  Text               `json:"description,omitempty"`
	Price        *Money             `json:"price,omitempty"`    // nil when absent
	Tax          *Money             `json:"tax,omitempty"`      // of a lookup; nil when absent
	Shipping     *Money             `json:"shipping,omitempty"` // of a lookup; nil when absent
	Availability Availability       `json:"availability,omitempty"`
	Purchasable  *bool              `json:"isPurchasable,omitempty"` // nil when absent
	Image        Text               `json:"image,omitempty"`         // URL of the featured image, or else of the first
	Dimensions   []VariantDimension `json:"variantDimensions,omitempty"`
	Variants     []Variant          `json:"variants,omitempty"`
	Raw          json.RawMessage    `json:"-"` // the exact body
	Response     Response           `json:"-"` // the answer it was read from
}

// VariantDimension is what a product can be chosen by, and the values there are.
type VariantDimension struct {
	Label  Text   `json:"label"`
	Values []Text `json:"values,omitempty"`
}

// Variant is one choice of a product.
type Variant struct {
	ID           ID                 `json:"id,omitempty"`
	Name         Text               `json:"name,omitempty"`
	SKU          Text               `json:"sku,omitempty"`
	Price        *Money             `json:"price,omitempty"`
	Availability Availability       `json:"availability,omitempty"`
	Dimensions   []VariantSelection `json:"dimensions,omitempty"`
}

// DecodeProduct reads a product leniently: a JSON object with an id or a URL
// never fails, whatever its other fields hold.
func DecodeProduct(body []byte) (Product, error) { return decodeProduct(body, Response{}) }

func decodeProduct(body []byte, of Response) (Product, error) {
	object, err := parseObject("product", body)
	if err != nil {
		return Product{}, err
	}
	f := fieldsOf(object)
	product := Product{
		ID:           idOf(f["id"]),
		Name:         textOf(f["name"]),
		URL:          textOf(f["url"]),
		Brand:        textOf(f["brand"]),
		Retailer:     textOf(f["retailer"]),
		SKU:          textOrNumber(f["sku"]),
		Description:  textOf(f["description"]),
		Price:        decodeMoney(f["price"]),
		Tax:          decodeMoney(f["tax"]),
		Shipping:     decodeMoney(f["shipping"]),
		Availability: Availability(textOf(f["availability"])),
		Purchasable:  decodeBool(f["isPurchasable"]),
		Image:        decodeImage(f["images"]),
		Dimensions:   decodeDimensions(f["variantDimensions"]),
		Variants:     listOf(f["variants"], decodeVariant),
		Raw:          bytes.Clone(body),
		Response:     of,
	}
	if product.ID == "" && product.URL == "" {
		return Product{}, errors.New("decode product: neither an id nor a url")
	}
	return product, nil
}

func decodeBool(v gjson.Result) *bool {
	if !v.IsBool() {
		return nil
	}
	is := v.Bool()
	return &is
}

func decodeImage(v gjson.Result) Text {
	var first, featured Text
	eachItem(v, func(v gjson.Result) {
		f := fieldsOf(v)
		url := textOf(f["url"])
		first = cmp.Or(first, url)
		if f["isFeatured"].Type == gjson.True {
			featured = cmp.Or(featured, url)
		}
	})
	return cmp.Or(featured, first)
}

func decodeDimensions(v gjson.Result) []VariantDimension {
	dimensions := listOf(v, func(v gjson.Result) VariantDimension {
		f := fieldsOf(v)
		return VariantDimension{Label: textOf(f["label"]), Values: textsOf(f["values"])}
	})
	return slices.DeleteFunc(dimensions, func(d VariantDimension) bool { return d.Label == "" })
}

func decodeVariant(v gjson.Result) Variant {
	f := fieldsOf(v)
	return Variant{
		ID: idOf(f["id"]), Name: textOf(f["name"]), SKU: textOrNumber(f["sku"]), Price: decodeMoney(f["price"]),
		Availability: Availability(textOf(f["availability"])), Dimensions: decodeSelections(f["dimensions"]),
	}
}
