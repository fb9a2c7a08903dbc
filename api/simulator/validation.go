package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// checker reads and validates a request; it ignores unknown fields. It maps the dotted path of each wrong field to
// what is wrong, and the value there.
type checker map[string]fieldWire

func (c *checker) wrong(path, message string, value any) {
	if *c == nil {
		*c = checker{}
	}
	(*c)[path] = fieldWire{message, value}
}

const noMatch = "Could not match the union against any of the items."

// body reads the request body as an object. An empty body is an empty object. ok is false if it is none.
func (c *checker) body(r *request) (o gjson.Result, ok bool) {
	raw := bytes.TrimSpace(bytes.ToValidUTF8(r.body, []byte("\ufffd")))
	switch {
	case r.unread != "":
		c.wrong("body", r.unread, nil)
	case len(raw) == 0:
		return o, true
	case !json.Valid(raw):
		c.wrong("body", "invalid JSON", nil)
	default:
		return c.object("body", gjson.ParseBytes(raw))
	}
	return o, false
}

func (c *checker) object(path string, o gjson.Result) (gjson.Result, bool) {
	if !o.IsObject() {
		c.wrong(path, "invalid object", json.RawMessage(o.Raw))
	}
	return o, o.IsObject()
}

// value returns the value of a key; null counts as absent. It records a missing required one as wrong.
func (c *checker) value(o gjson.Result, path, key string, required bool) (v gjson.Result, ok bool) {
	v = o.Get(key)
	ok = v.Exists() && v.Type != gjson.Null
	if !ok && required {
		c.wrong(path+"."+key, "'"+key+"' is required", nil)
	}
	return v, ok
}

func (c *checker) text(o gjson.Result, path, key string, required bool, limit int) string {
	v, ok := c.value(o, path, key, required)
	n := utf8.RuneCountInString(v.Str)
	switch {
	case !ok:
	case v.Type != gjson.String:
		c.wrong(path+"."+key, "invalid string value", json.RawMessage(v.Raw))
	case n > limit:
		c.wrong(path+"."+key, fmt.Sprintf("maxLength %d", limit), json.RawMessage(v.Raw))
	case n == 0 && required:
		c.wrong(path+"."+key, "minLength 1", json.RawMessage(v.Raw))
	}
	return v.Str
}

// whole reads a whole number of at least 0; nil if there is none.
func (c *checker) whole(o gjson.Result, path, key string, required bool) *int64 {
	v, ok := c.value(o, path, key, required)
	switch {
	case !ok:
		return nil
	case v.Type != gjson.Number || v.Num != math.Trunc(v.Num) || math.Abs(v.Num) > math.MaxInt32:
		c.wrong(path+"."+key, "invalid integer number", json.RawMessage(v.Raw))
		return nil
	case v.Num < 0:
		c.wrong(path+"."+key, "min 0", json.RawMessage(v.Raw))
	}
	whole := int64(v.Num)
	return &whole
}

// isWebAddress reports whether text is an absolute URL of a web page.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// order reads the body of a create or a purchase.
func (c *checker) order(o gjson.Result, paymentRequired bool) (intentWire, *paymentWire) {
	var w intentWire
	w.ProductURL = c.text(o, "body", "productUrl", true, 2048)
	if w.ProductURL != "" && !isWebAddress(w.ProductURL) {
		c.wrong("body.productUrl", "invalid url", w.ProductURL)
	}
	if q := c.whole(o, "body", "quantity", true); q != nil {
		w.Quantity = int(*q)
	}
	if v, ok := c.value(o, "body", "buyer", true); ok {
		w.Buyer = c.buyer(v)
	}
	w.ReferenceID = c.text(o, "body", "referenceId", false, 255)
	if v, ok := c.value(o, "body", "variantSelections", false); ok {
		w.VariantSelections = c.selections(v)
	}
	const constraints = "body.constraints"
	if v, ok := c.value(o, "body", "constraints", false); ok {
		if v, ok = c.object(constraints, v); ok {
			w.Constraints = &constraintsWire{
				MaxTotalPrice:        c.whole(v, constraints, "maxTotalPrice", false),
				MaxShippingPrice:     c.whole(v, constraints, "maxShippingPrice", false),
				OfferRetrievalEffort: c.text(v, constraints, "offerRetrievalEffort", false, 255),
			}
		}
	}
	return w, c.payment(o, paymentRequired)
}

func (c *checker) buyer(v gjson.Result) *buyerWire {
	o, ok := c.object("body.buyer", v)
	if !ok {
		return nil
	}
	field := func(key string) string { return c.text(o, "body.buyer", key, true, 255) }
	b := &buyerWire{
		FirstName: field("firstName"), LastName: field("lastName"), Email: field("email"), Phone: field("phone"),
		Address1: field("address1"), Address2: c.text(o, "body.buyer", "address2", false, 255), City: field("city"),
		Province: field("province"), PostalCode: field("postalCode"), Country: field("country"),
	}
	if b.Country != "" && b.Country != "US" {
		c.wrong("body.buyer.country", noMatch, b.Country)
	}
	return b
}

func (c *checker) selections(v gjson.Result) (all []variantSelectionWire) {
	if !v.IsArray() {
		c.wrong("body.variantSelections", "invalid array", json.RawMessage(v.Raw))
		return nil
	}
	for i, item := range v.Array() {
		path := fmt.Sprintf("body.variantSelections.$%d", i)
		o, ok := c.object(path, item)
		if !ok {
			continue
		}
		label := c.text(o, path, "label", true, 30)
		value, ok := c.value(o, path, "value", true)
		switch {
		case ok && value.Type != gjson.String && value.Type != gjson.Number:
			c.wrong(path+".value", noMatch, json.RawMessage(value.Raw))
		case utf8.RuneCountInString(value.Str) > 60:
			c.wrong(path+".value", "maxLength 60", json.RawMessage(value.Raw))
		}
		all = append(all, variantSelectionWire{label, json.RawMessage(value.Raw)})
	}
	return all
}

// payment reads the payment method: the two kinds that the contract names.
func (c *checker) payment(o gjson.Result, required bool) *paymentWire {
	const path = "body.paymentMethod"
	v, ok := c.value(o, "body", "paymentMethod", required)
	if ok {
		v, ok = c.object(path, v)
	}
	if !ok {
		return nil
	}
	w := &paymentWire{Type: api.PaymentType(c.text(v, path, "type", true, 64))}
	switch w.Type {
	case api.VaultToken:
		w.VaultToken = c.text(v, path, "vaultToken", true, 255)
	case api.Drawdown, "":
	default:
		c.wrong(path, noMatch, w.Type)
	}
	return w
}
