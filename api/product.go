package api

import "encoding/json"

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
	Availability Availability
	Purchasable  bool
	Raw          json.RawMessage
}

// DecodeProduct reads a product leniently.
func DecodeProduct(body []byte) (Product, error) { panic("unwritten") }
