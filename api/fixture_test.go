package api

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fixture is one made-up body in the shape that public clients have seen.
type fixture struct {
	Name      string
	Schema    string
	Status    int
	Headers   map[string]string
	Transient *bool
	Body      json.RawMessage
}

func (f fixture) header() http.Header {
	header := http.Header{}
	for name, value := range f.Headers {
		header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	return header
}

// sent is the body as it stands on the wire: text bodies are kept as strings.
func (f fixture) sent() []byte {
	var text string
	if f.Schema == "" && json.Unmarshal(f.Body, &text) == nil {
		return []byte(text)
	}
	return f.Body
}

func fixtures(t testing.TB, file string) []fixture {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "fixtures", file))
	if err != nil {
		t.Fatal(err)
	}
	var set struct{ Cases []fixture }
	if err := json.Unmarshal(content, &set); err != nil {
		t.Fatal(err)
	}
	if len(set.Cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return set.Cases
}

func fixtureNamed(t testing.TB, file, name string) []byte {
	t.Helper()
	for _, f := range fixtures(t, file) {
		if f.Name == name {
			return f.Body
		}
	}
	t.Fatalf("%s has no case %q", file, name)
	return nil
}

// The structs below read the fixtures by encoding/json, as an oracle that shares
// nothing with the decoders.

type wireMoney struct {
	CurrencyCode   string
	AmountSubunits int64
}

func (m *wireMoney) matches(got *Money) bool {
	if m == nil || got == nil {
		return m == nil && got == nil
	}
	return *got == Money{Currency: m.CurrencyCode, Subunits: m.AmountSubunits}
}

type wireOffer struct {
	Cost struct {
		Subtotal, Shipping, Tax, Discount, Surcharge, Total *wireMoney
	}
	Shipping struct {
		SelectedOptionID string
		AvailableOptions []struct {
			ID               string
			Cost, Discount   *wireMoney
			DeliveryEstimate *struct{ Earliest, Latest time.Time }
		}
	}
	AppliedPromoCodes []string
	Commission        *struct{ Amount *wireMoney }
}

type wireIntent struct {
	ID, State, ProductURL, ReferenceID string
	CreatedAt                          time.Time
	Quantity                           int
	Buyer                              *struct{ FirstName, LastName, Email, Phone, Address1, Address2, City, Province, PostalCode, Country string }
	PromoCodes                         []string
	VariantSelections                  []struct {
		Label string
		Value any
	}
	Constraints *struct {
		MaxTotalPrice        *int64 `json:"maxTotalPrice,omitempty"`
		MaxShippingPrice     *int64 `json:"maxShippingPrice,omitempty"`
		OfferRetrievalEffort string `json:"offerRetrievalEffort,omitempty"`
	}
	Offer         *wireOffer
	PaymentMethod *struct{ Type, VaultToken string }
	FailureReason *struct{ Code, Message string }
	OrderID       *string
}

type wireShipment struct {
	ID, CheckoutIntentID, MarketplaceOrderID, Status, ExternalID string
	CreatedAt, UpdatedAt, ShippedAt, DeliveredAt                 time.Time
	Tracking                                                     *struct {
		Number, CarrierName, URL *string
		DeliveryDate             *struct{ Estimated time.Time }
	}
	TrackingEvents []struct {
		Status      string
		Description *string
		Location    struct{ City, Province, Country *string }
		Timestamp   *struct{ UTC time.Time }
	}
}

type wireProduct struct {
	ID, Name, URL                     string
	Brand, Retailer, SKU, Description *string
	Availability                      string
	IsPurchasable                     bool
	Price                             *wireMoney
	Images                            []struct{ URL string }
	VariantDimensions                 []struct {
		Label  string
		Values []string
	}
	Variants []struct {
		ID, Name     string
		SKU          *string
		Availability string
		Price        *wireMoney
		Dimensions   []struct{ Label, Value string }
	}
}

func oracle[T any](t *testing.T, body []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
