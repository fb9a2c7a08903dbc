package api

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
)

// CreateIntent is the body of [Client.CreateIntent] and [Client.Purchase]. ProductURL
// is required; optional parts are left out when zero.
type CreateIntent struct {
	ProductURL         string             `json:"productUrl"`
	Quantity           int                `json:"quantity"` // sent as it is, 0 too
	Buyer              Buyer              `json:"-"`
	ReferenceID        string             `json:"referenceId,omitempty"`        // the caller's own id, which the service echoes; 255 characters at most
	PromoCodes         []string           `json:"promoCodes,omitempty"`         // codes that the merchant does not know are ignored
	DiscoverPromoCodes bool               `json:"discoverPromoCodes,omitempty"` // have the service look for codes
	VariantSelections  []VariantSelection `json:"variantSelections,omitempty"`  // they win over a variant in ProductURL
	Constraints        *Constraints       `json:"constraints,omitempty"`        // nil: none
	Payment            *PaymentMethod     `json:"-"`                            // required for a purchase
	Raw                json.RawMessage    `json:"-"`                            // a JSON object that is sent as it is, instead of all that; nil: not set
	StandIn            bool               `json:"-"`                            // for a stand-in alone: the service refuses the key that it carries
	Departure          Departure          `json:"-"`                            // nil: nobody is asked
}

// ConfirmIntent is the body of [Client.ConfirmIntent]. A zero body sends {}. The
// contract does not show what the service wants there.
type ConfirmIntent struct {
	Payment *PaymentMethod
	Raw     json.RawMessage `json:"-"` // sent as it is, instead of Payment; nil: not set
	StandIn bool            `json:"-"` // for a stand-in alone: the service refuses the key that it carries
	After   string          // what the last confirm of the intent that is known to have bought nothing is called; "" for none
	Hidden  Secret          `json:"-"` // the token that the intent is paid with, which errors must not repeat; zero: not known

	Departure Departure `json:"-"` // nil: nobody is asked
}

// PaysBy is the kind of payment that the body names; "" for none.
func (c ConfirmIntent) PaysBy() PaymentType {
	if payment := paymentOf(c.Payment, c.Raw); payment != nil {
		return payment.Type
	}
	return ""
}

// Departure is called when a request that spends money is about to go out, after every wait. An error holds the
// request back. Otherwise the client calls written, once or more often, when the request was written or has ended.
type Departure func() (written func(), err error)

func (d Departure) ask() (written func(), err error) {
	if d == nil {
		return func() {}, nil
	}
	return d()
}

// ShipmentQuery filters the list of shipments (contract, Endpoints). Its zero value
// asks for all.
type ShipmentQuery struct {
	IDs   []ID // only these
	Limit int  // items of one page, 1 to 100; 0 leaves it to the service
}

// createWire is a [CreateIntent] with its buyer and its token, which everything else masks.
type createWire struct {
	Buyer map[string]Text `json:"buyer"`
	CreateIntent
	PaymentMethod map[string]string `json:"paymentMethod,omitempty"`
}

func (c *CreateIntent) encode() ([]byte, error) {
	if len(c.Raw) > 0 {
		if !gjson.ValidBytes(c.Raw) || !gjson.ParseBytes(c.Raw).IsObject() {
			return nil, errors.New("the raw body is not a JSON object")
		}
		return c.Raw, nil
	}
	if c.ProductURL == "" {
		return nil, errors.New("the product URL is missing")
	}
	payment, err := c.Payment.Fields()
	if err != nil {
		return nil, err
	}
	return json.Marshal(createWire{c.Buyer.wire(), *c, payment})
}

func (c *ConfirmIntent) encode() ([]byte, error) {
	if len(c.Raw) > 0 {
		if !json.Valid(c.Raw) {
			return nil, errors.New("the raw body of the confirm is not JSON")
		}
		return c.Raw, nil
	}
	payment, err := c.Payment.Fields()
	if err != nil {
		return nil, err
	}
	if payment == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]any{"paymentMethod": payment})
}

// Fields are those of the method in a request, with its live token; none of a nil
// one.
func (p *PaymentMethod) Fields() (map[string]string, error) {
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
