package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"unicode/utf8"

	"tillwatch/api"
)

// checker reads and validates a request; it ignores unknown fields. It maps the dotted path of each wrong field to
// what is wrong.
type checker map[string]fieldWire

func (c *checker) wrong(path, message string, value json.RawMessage) {
	if *c == nil {
		*c = checker{}
	}
	(*c)[path] = fieldWire{message, value}
}

type object map[string]json.RawMessage

// present returns the value of a key; null counts as absent.
func (o object) present(key string) (raw json.RawMessage, ok bool) {
	raw, ok = o[key]
	return raw, ok && string(raw) != "null"
}

// body reads the request body as an object. An empty body is an empty object.
func (c *checker) body(r *request) object {
	if r.unread != "" {
		c.wrong("body", r.unread, nil)
		return nil
	}
	if len(bytes.TrimSpace(r.body)) == 0 {
		return object{}
	}
	raw := bytes.ToValidUTF8(r.body, []byte("\ufffd"))
	if !json.Valid(raw) {
		c.wrong("body", "invalid JSON", nil)
		return nil
	}
	return c.object("body", raw)
}

func (c *checker) object(path string, raw json.RawMessage) object {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		c.wrong(path, "invalid object", raw)
		return nil
	}
	return o
}

// value returns the value of a key; it records a missing required one as wrong.
func (c *checker) value(o object, path, key string, required bool) (json.RawMessage, bool) {
	raw, ok := o.present(key)
	if !ok && required {
		c.wrong(path+"."+key, "'"+key+"' is required", nil)
	}
	return raw, ok
}

func (c *checker) text(o object, path, key string, required bool, limit int) string {
	raw, ok := c.value(o, path, key, required)
	if !ok {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		c.wrong(path+"."+key, "invalid string value", raw)
		return ""
	}
	if n := utf8.RuneCountInString(text); n > limit {
		c.wrong(path+"."+key, fmt.Sprintf("maxLength %d", limit), raw)
	} else if n == 0 && required {
		c.wrong(path+"."+key, "minLength 1", raw)
	}
	return text
}

// whole reads a whole number of at least 0; nil if there is none.
func (c *checker) whole(o object, path, key string, required bool) *int64 {
	raw, ok := c.value(o, path, key, required)
	if !ok {
		return nil
	}
	var number float64
	switch err := json.Unmarshal(raw, &number); {
	case err != nil || number != math.Trunc(number) || math.Abs(number) > math.MaxInt32:
		c.wrong(path+"."+key, "invalid integer number", raw)
		return nil
	case number < 0:
		c.wrong(path+"."+key, "min 0", raw)
		return nil
	}
	whole := int64(number)
	return &whole
}

// isWebAddress reports whether text is an absolute URL of a web page.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// order reads the body of a create or a purchase.
func (c *checker) order(o object, paymentRequired bool) (intentWire, *paymentWire) {
	var w intentWire
	w.ProductURL = c.text(o, "body", "productUrl", true, 2048)
	if w.ProductURL != "" && !isWebAddress(w.ProductURL) {
		c.wrong("body.productUrl", "invalid url", quoted(w.ProductURL))
	}
	if q := c.whole(o, "body", "quantity", true); q != nil {
		w.Quantity = int(*q)
	}
	if raw, ok := c.value(o, "body", "buyer", true); ok {
		w.Buyer = c.buyer(raw)
	}
	w.ReferenceID = c.text(o, "body", "referenceId", false, 255)
	c.extras(o, &w)
	return w, c.payment(o, paymentRequired)
}

func (c *checker) buyer(raw json.RawMessage) *buyerWire {
	o := c.object("body.buyer", raw)
	if o == nil {
		return nil
	}
	field := func(key string) string { return c.text(o, "body.buyer", key, true, 255) }
	b := &buyerWire{
		FirstName: field("firstName"), LastName: field("lastName"), Email: field("email"), Phone: field("phone"),
		Address1: field("address1"), Address2: c.text(o, "body.buyer", "address2", false, 255), City: field("city"),
		Province: field("province"), PostalCode: field("postalCode"), Country: field("country"),
	}
	if b.Country != "" && b.Country != "US" {
		c.wrong("body.buyer.country", "Could not match the union against any of the items.", quoted(b.Country))
	}
	return b
}

// extras reads the optional fields of an order.
func (c *checker) extras(o object, w *intentWire) {
	if raw, ok := o.present("variantSelections"); ok {
		w.VariantSelections = c.selections(raw)
	}
	if raw, ok := o.present("constraints"); ok {
		w.Constraints = c.constraints(raw)
	}
}

func (c *checker) selections(raw json.RawMessage) []variantSelectionWire {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		c.wrong("body.variantSelections", "invalid array", raw)
		return nil
	}
	var all []variantSelectionWire
	for i, item := range items {
		path := fmt.Sprintf("body.variantSelections.$%d", i)
		o := c.object(path, item)
		if o == nil {
			continue
		}
		w := variantSelectionWire{Label: c.text(o, path, "label", true, 30)}
		value, ok := c.value(o, path, "value", true)
		var text string
		var number float64
		switch {
		case !ok:
		case json.Unmarshal(value, &text) == nil:
			if utf8.RuneCountInString(text) > 60 {
				c.wrong(path+".value", "maxLength 60", value)
			}
		case json.Unmarshal(value, &number) != nil:
			c.wrong(path+".value", "Could not match the union against any of the items.", value)
		}
		w.Value = value
		all = append(all, w)
	}
	return all
}

// The values of offerRetrievalEffort.
const (
	effortMax = "max" // try until the confirm window closes; the default
	effortLow = "low" // give up a merchant that takes much longer than usual
)

func (c *checker) constraints(raw json.RawMessage) *constraintsWire {
	const path = "body.constraints"
	o := c.object(path, raw)
	if o == nil {
		return nil
	}
	w := &constraintsWire{
		MaxTotalPrice:        c.whole(o, path, "maxTotalPrice", false),
		MaxShippingPrice:     c.whole(o, path, "maxShippingPrice", false),
		OfferRetrievalEffort: c.text(o, path, "offerRetrievalEffort", false, 255),
	}
	if raw, ok := o.present("offerRetrievalEffort"); ok && w.OfferRetrievalEffort != effortMax && w.OfferRetrievalEffort != effortLow {
		c.wrong(path+".offerRetrievalEffort", "should be one of the following; ['max','low']", raw)
	}
	return w
}

// payment reads the payment method: the two kinds that the contract names.
func (c *checker) payment(o object, required bool) *paymentWire {
	const path = "body.paymentMethod"
	raw, ok := c.value(o, "body", "paymentMethod", required)
	if !ok {
		return nil
	}
	m := c.object(path, raw)
	if m == nil {
		return nil
	}
	w := &paymentWire{Type: api.PaymentType(c.text(m, path, "type", true, 64))}
	switch w.Type {
	case api.VaultToken:
		w.VaultToken = c.text(m, path, "vaultToken", true, 255)
	case api.Drawdown, "":
	default:
		c.wrong(path, "Could not match the union against any of the items.", quoted(string(w.Type)))
	}
	return w
}
