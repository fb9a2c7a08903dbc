package api

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"

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
	for name, value := range b.fields() {
		switch {
		case *value == "":
		case name == "country":
			fields[name] = *value
		default:
			fields[name] = masked
		}
	}
	return json.Marshal(fields)
}

// QuotedIn reports whether a text quotes a part of the buyer, as merchants' messages and clients' own ids may.
func (b *Buyer) QuotedIn(text Text) bool {
	const shortest = 3 // anything shorter would match too much
	if b == nil {
		return false
	}
	lower := strings.ToLower(string(text))
	for _, personal := range []Text{b.FirstName, b.LastName, b.Email, b.Phone, b.Address1, b.Address2, b.City, b.PostalCode} {
		if len(personal) >= shortest && strings.Contains(lower, strings.ToLower(string(personal))) {
			return true
		}
	}
	return false
}

func decodeBuyer(v gjson.Result) *Buyer {
	if !v.IsObject() {
		return nil
	}
	buyer, f := new(Buyer), fieldsOf(v)
	for name, value := range buyer.fields() {
		*value = textOrNumber(f[name])
	}
	return buyer
}

// fields are those of the buyer, by their names in JSON.
func (b *Buyer) fields() map[string]*Text {
	return map[string]*Text{
		"firstName": &b.FirstName, "lastName": &b.LastName, "email": &b.Email, "phone": &b.Phone,
		"address1": &b.Address1, "address2": &b.Address2, "city": &b.City, "province": &b.Province,
		"postalCode": &b.PostalCode, "country": &b.Country,
	}
}
