package api

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/tidwall/gjson"
)

const masked = "[masked]"

// Buyer is whom the order is for. It is personal data: every way of printing it
// whole yields "[masked]", and its JSON only the country and which fields there
// are; its fields are for the place where a person asked to see them, and for the
// request that creates an intent.
type Buyer struct {
	FirstName  Text `json:"firstName"`
	LastName   Text `json:"lastName"`
	Email      Text `json:"email"`
	Phone      Text `json:"phone"`
	Address1   Text `json:"address1"`
	Address2   Text `json:"address2"`
	City       Text `json:"city"`
	Province   Text `json:"province"`
	PostalCode Text `json:"postalCode"`
	Country    Text `json:"country"`
}

// String masks the buyer.
func (b Buyer) String() string { return masked }

// Format masks the buyer for every verb.
func (b Buyer) Format(f fmt.State, _ rune) { io.WriteString(f, masked) }

// LogValue masks the buyer in structured logs.
func (b Buyer) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText masks the buyer in every text encoding.
func (b Buyer) MarshalText() ([]byte, error) { return []byte(masked), nil }

// MarshalJSON masks every field but the country.
func (b Buyer) MarshalJSON() ([]byte, error) {
	fields := map[string]Text{}
	for _, key := range []string{"firstName", "lastName", "email", "phone", "address1", "address2", "city", "province", "postalCode"} {
		if *b.field(key) != "" {
			fields[key] = masked
		}
	}
	if b.Country != "" {
		fields["country"] = b.Country
	}
	return json.Marshal(fields)
}

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
