package api

import (
	"encoding/json"
	"errors"
	"fmt"
)

// CreateIntent is the body of the two calls that create an intent. Optional
// parts are left out when zero; the quantity is sent as it is.
type CreateIntent struct {
	ProductURL         string
	Quantity           int
	Buyer              Buyer
	ReferenceID        string
	PromoCodes         []string
	DiscoverPromoCodes bool
	VariantSelections  []VariantSelection
	Constraints        *Constraints
	Payment            *PaymentMethod
}

// ConfirmIntent is the body of a confirm. A zero body sends {}; the fields that
// the service wants there are not shown by the contract, so Raw, when set, is
// sent as it is.
type ConfirmIntent struct {
	Payment *PaymentMethod
	Raw     json.RawMessage `json:"-"`

	// StandIn: the confirm is for a stand-in alone. The service would refuse its key.
	StandIn bool `json:"-"`
}

// ShipmentQuery filters the list of shipments (contract: after, before, ids).
type ShipmentQuery struct {
	After, Before string
	IDs           []ID
	Statuses      []ShipmentStatus
	Limit         int // of one page, 1 to 100; 0 leaves it to the service
}

type createWire struct {
	Buyer              map[string]Text   `json:"buyer"`
	ProductURL         string            `json:"productUrl"`
	Quantity           int               `json:"quantity"`
	ReferenceID        string            `json:"referenceId,omitempty"`
	PromoCodes         []string          `json:"promoCodes,omitempty"`
	DiscoverPromoCodes bool              `json:"discoverPromoCodes,omitempty"`
	VariantSelections  []selectionWire   `json:"variantSelections,omitempty"`
	Constraints        *constraintsWire  `json:"constraints,omitempty"`
	PaymentMethod      map[string]string `json:"paymentMethod,omitempty"`
}

type selectionWire struct {
	Label Text `json:"label"`
	Value Text `json:"value"`
}

type constraintsWire struct {
	MaxTotalPrice        *int64 `json:"maxTotalPrice,omitempty"`
	MaxShippingPrice     *int64 `json:"maxShippingPrice,omitempty"`
	OfferRetrievalEffort Text   `json:"offerRetrievalEffort,omitempty"`
}

func (c *CreateIntent) encode() ([]byte, error) {
	if c.ProductURL == "" {
		return nil, errors.New("the product URL is missing")
	}
	payment, err := c.Payment.wire()
	if err != nil {
		return nil, err
	}
	wire := createWire{
		Buyer:              c.Buyer.wire(),
		ProductURL:         c.ProductURL,
		Quantity:           c.Quantity,
		ReferenceID:        c.ReferenceID,
		PromoCodes:         c.PromoCodes,
		DiscoverPromoCodes: c.DiscoverPromoCodes,
		PaymentMethod:      payment,
	}
	for _, selection := range c.VariantSelections {
		wire.VariantSelections = append(wire.VariantSelections, selectionWire(selection))
	}
	if c.Constraints != nil {
		limits := constraintsWire(*c.Constraints)
		wire.Constraints = &limits
	}
	return json.Marshal(wire)
}

func (c *ConfirmIntent) encode() ([]byte, error) {
	if len(c.Raw) > 0 {
		if !json.Valid(c.Raw) {
			return nil, errors.New("the raw body of the confirm is no JSON")
		}
		return c.Raw, nil
	}
	payment, err := c.Payment.wire()
	if err != nil {
		return nil, err
	}
	if payment == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]any{"paymentMethod": payment})
}

// wire leaves out what is empty.
func (b *Buyer) wire() map[string]Text {
	fields := make(map[string]Text)
	for _, name := range []string{"firstName", "lastName", "email", "phone", "address1", "address2",
		"city", "province", "postalCode", "country"} {
		if value := *b.field(name); value != "" {
			fields[name] = value
		}
	}
	return fields
}

func (p *PaymentMethod) wire() (map[string]string, error) {
	if p == nil {
		return nil, nil
	}
	if p.Type == "" {
		return nil, errors.New("the payment method has no type")
	}
	fields := map[string]string{"type": string(p.Type)}
	if !p.Token.IsZero() {
		name := p.Type.tokenField()
		if name == "" {
			return nil, fmt.Errorf("payment by %s takes no token", p.Type)
		}
		fields[name] = p.Token.Reveal()
	}
	return fields, nil
}
