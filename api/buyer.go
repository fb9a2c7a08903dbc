package api

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/tidwall/gjson"
)

const masked = "[masked]"

// Buyer is whom the order is for. It is personal data: every way of printing it
// whole, and its JSON, yield "[masked]"; its fields are for the place where a
// person asked to see them, and for the request that creates an intent.
type Buyer struct {
	FirstName, LastName, Email, Phone                       Text
	Address1, Address2, City, Province, PostalCode, Country Text
}

// String masks the buyer.
func (b Buyer) String() string { return masked }

// Format masks the buyer for every verb.
func (b Buyer) Format(f fmt.State, _ rune) { io.WriteString(f, masked) }

// LogValue masks the buyer in structured logs.
func (b Buyer) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText masks the buyer in every text encoding, JSON among them.
func (b Buyer) MarshalText() ([]byte, error) { return []byte(masked), nil }

func decodeBuyer(v gjson.Result) *Buyer {
	if !v.IsObject() {
		return nil
	}
	buyer := new(Buyer)
	eachField(v, func(key string, v gjson.Result) {
		if field := buyer.field(key); field != nil {
			*field = textOrNumber(v)
		}
	})
	return buyer
}

func (b *Buyer) field(key string) *Text {
	switch key {
	case "firstName":
		return &b.FirstName
	case "lastName":
		return &b.LastName
	case "email":
		return &b.Email
	case "phone":
		return &b.Phone
	case "address1":
		return &b.Address1
	case "address2":
		return &b.Address2
	case "city":
		return &b.City
	case "province":
		return &b.Province
	case "postalCode":
		return &b.PostalCode
	case "country":
		return &b.Country
	}
	return nil
}
