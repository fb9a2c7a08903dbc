package api

import (
	"encoding/json"
	"errors"
	"fmt"
)

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
