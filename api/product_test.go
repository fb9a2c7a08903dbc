package api

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestEveryFixtureProductDecodes(t *testing.T) {
	for _, f := range fixtures(t, "05-products.json") {
		t.Run(f.Name, func(t *testing.T) {
			got, err := DecodeProduct(f.Body)
			if err != nil {
				t.Fatal(err)
			}
			want := oracle[wireProduct](t, f.Body)
			same(t, "id", string(got.ID), want.ID)
			same(t, "name", string(got.Name), want.Name)
			same(t, "url", string(got.URL), want.URL)
			same(t, "brand", string(got.Brand), deref(want.Brand))
			same(t, "retailer", string(got.Retailer), deref(want.Retailer))
			same(t, "sku", string(got.SKU), deref(want.SKU))
			same(t, "description", string(got.Description), deref(want.Description))
			same(t, "availability", string(got.Availability), want.Availability)
			same(t, "purchasable", got.Purchasable != nil && *got.Purchasable, want.IsPurchasable)
			same(t, "price", want.Price.matches(got.Price), true)
			same(t, "dimensions", fmt.Sprint(got.Dimensions), fmt.Sprint(want.VariantDimensions))
			if len(want.Images) > 0 {
				same(t, "image", string(got.Image), want.Images[0].URL)
			}
			same(t, "variants", len(got.Variants), len(want.Variants))
			for i, v := range want.Variants {
				g := got.Variants[i]
				same(t, "variant", fmt.Sprint(g.ID, g.Name, g.SKU, g.Availability, g.Dimensions),
					fmt.Sprint(v.ID, v.Name, deref(v.SKU), v.Availability, v.Dimensions))
				same(t, "variant price", v.Price.matches(g.Price), true)
			}
			same(t, "raw", string(got.Raw), string(f.Body))
		})
	}
}

func TestProductToleratesWrongTypes(t *testing.T) {
	got, err := DecodeProduct([]byte(`{"url":"https://a.example/x","price":"12","isPurchasable":"yes","images":[null,{"url":"a"},{"url":"b","isFeatured":true}],
		"variants":[3,{"id":4103,"price":null}],"variantDimensions":{"a":1},"availability":null,"sku":7}`))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "price is absent", got.Price == nil, true)
	same(t, "purchasable is absent", got.Purchasable == nil, true)
	same(t, "featured image", got.Image, "b")
	same(t, "sku", got.SKU, "7")
	same(t, "variants", len(got.Variants), 1)
	same(t, "variant id", got.Variants[0].ID, "4103")
}

func TestALookupMayHaveTaxAndShipping(t *testing.T) {
	got, err := DecodeProduct([]byte(`{"id":"p","tax":{"currencyCode":"KWD","amountSubunits":1500},"shipping":{"currencyCode":"JPY","amountSubunits":0}}`))
	if err != nil || got.Tax == nil || got.Shipping == nil {
		t.Fatalf("tax %v, shipping %v, %v", got.Tax, got.Shipping, err)
	}
	same(t, "tax", got.Tax.String(), "1.500 KWD")
	same(t, "shipping", got.Shipping.String(), "0 JPY")
	got, err = DecodeProduct([]byte(`{"id":"p","tax":"none","shipping":{"amountSubunits":1}}`))
	if err != nil || got.Tax != nil || got.Shipping != nil {
		t.Errorf("tax %v, shipping %v, %v", got.Tax, got.Shipping, err)
	}
}

func TestProductWithoutAnIdentityIsRefused(t *testing.T) {
	if _, err := DecodeProduct([]byte(`{"name":"Socks"}`)); err == nil || !strings.Contains(err.Error(), "neither an id nor a url") {
		t.Errorf("got %v", err)
	}
}

func FuzzDecodeProduct(f *testing.F) {
	for _, c := range fixtures(f, "05-products.json") {
		f.Add([]byte(c.Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		product, err := DecodeProduct(body)
		if err != nil {
			return
		}
		if !bytes.Equal(product.Raw, body) {
			t.Fatal("raw is not what came")
		}
		texts := []Text{Text(product.ID), product.Name, product.URL, product.Description, Text(product.Availability), product.Image}
		for _, variant := range product.Variants {
			texts = append(texts, Text(variant.ID), variant.Name)
		}
		for _, text := range texts {
			if forbidden := findForbidden(string(text)); forbidden != "" {
				t.Fatalf("%q holds %s", text, forbidden)
			}
		}
	})
}
